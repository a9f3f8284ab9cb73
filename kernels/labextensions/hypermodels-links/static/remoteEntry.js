// An extension of JupyterLab, as a container of module federation: it shares Lab's own modules, and needs no bundler.
// In what cells write to standard error, and in their errors, "cell [3], line 2" becomes a link to that line. Widgets
// whose program has ended leave their picture.
(() => {
  const PLACE = /cell (?:In)?\[(\d+)\], line (\d+)/gi;
  const GONE = 'Error displaying widget: model not found'; // as ipywidgets says it
  let shared; // Lab's modules: name, version, { get }.

  async function load(name) {
    const [module] = Object.values(shared[name]);
    return (await module.get())();
  }

  async function extension() {
    const [{ Notification }, { INotebookTracker }, { IRenderMimeRegistry, errorRendererFactory }] = await Promise.all(
      ['@jupyterlab/apputils', '@jupyterlab/notebook', '@jupyterlab/rendermime'].map(load)
    );

    function activate(_app, tracker, rendermime) {
      if (!errorRendererFactory) {
        return; // JupyterLab before 4.1.
      }
      rendermime.addFactory({
        ...errorRendererFactory,
        createRenderer: options => {
          const renderer = errorRendererFactory.createRenderer(options);
          // Text is rendered in pieces, and again when a stream goes on.
          new MutationObserver(() => link(renderer.node)).observe(renderer.node, { childList: true, subtree: true });
          return renderer;
        }
      });

      function link(root) {
        const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        const found = [];
        while (texts.nextNode()) {
          const text = texts.currentNode;
          if (!text.parentElement.closest('a') && text.data.search(PLACE) >= 0) {
            found.push(text);
          }
        }
        for (const text of found) {
          const parts = [];
          let end = 0;
          for (const match of text.data.matchAll(PLACE)) {
            parts.push(text.data.slice(end, match.index), anchor(match));
            end = match.index + match[0].length;
          }
          text.replaceWith(...parts, text.data.slice(end));
        }
      }

      function anchor([text, count, line]) {
        const a = document.createElement('a');
        a.href = '#';
        a.textContent = text;
        a.addEventListener('click', event => {
          event.preventDefault();
          void go(a, Number(count), Number(line));
        });
        return a;
      }

      // go shows a line of the cell that ran as number count, and selects it.
      async function go(a, count, line) {
        const panel = tracker.find(p => p.node.contains(a)) ?? tracker.currentWidget;
        const book = panel?.content;
        const cells = book?.widgets.filter(c => c.model.type === 'code' && c.model.executionCount === count) ?? [];
        const cell = cells.find(c => c.node.contains(a)) ?? cells[0]; // Numbers begin again with a kernel.
        if (!cell) {
          Notification.info(`There is no cell [${count}]: it has run again, or is gone.`, { autoClose: 5000 });
          return;
        }
        book.activeCellIndex = book.widgets.indexOf(cell);
        cell.inputHidden = false;
        await book.scrollToCell(cell);
        await cell.ready;
        book.mode = 'edit';
        const at = Math.min(line, cell.editor.lineCount) - 1;
        const end = { line: at, column: cell.editor.getLine(at).length };
        cell.editor.setSelection({ start: { line: at, column: 0 }, end });
        cell.editor.revealPosition(end);
        cell.editor.focus();
      }
    }

    // A notebook that is opened again has a widget's output, and not the program that answered it. What else the output
    // has, a picture, is shown in its place.
    function activatePictures(_app, tracker) {
      tracker.forEach(watch);
      tracker.widgetAdded.connect((_, panel) => watch(panel));

      function watch(panel) {
        new MutationObserver(records => {
          for (const added of records.flatMap(r => [...r.addedNodes])) {
            const root = added.nodeType === Node.TEXT_NODE ? added.parentElement : added;
            for (const node of [root, ...(root?.querySelectorAll?.('.jupyter-widgets') ?? [])]) {
              if (node?.textContent === GONE && !node.childElementCount) {
                void picture(panel.content, node);
              }
            }
          }
        }).observe(panel.content.node, { childList: true, subtree: true });
      }

      async function picture(book, node) {
        const area = book.widgets.find(c => c.node.contains(node))?.outputArea;
        const output = area?.model.get(area.widgets.findIndex(w => w.node.contains(node)));
        const type = ['text/html', 'image/png'].find(t => output?.data[t]);
        if (!type) {
          return;
        }
        const renderer = book.rendermime.createRenderer(type);
        await renderer.renderModel(output);
        const note = document.createElement('div');
        note.textContent = 'This is a picture: run the cell for its controls.';
        node.replaceChildren(renderer.node, note);
      }
    }

    const plugin = (id, description, requires, run) => ({
      id: `hypermodels-links:${id}`,
      description,
      autoStart: true,
      requires,
      activate: run
    });
    return {
      __esModule: true,
      default: [
        plugin('plugin', 'Errors of the Go kernel link to the lines of cells that they name.',
          [INotebookTracker, IRenderMimeRegistry], activate),
        plugin('pictures', 'Widgets whose program has ended leave their picture.', [INotebookTracker], activatePictures)
      ]
    };
  }

  (window._JUPYTERLAB ??= {})['hypermodels-links'] = {
    init: scope => {
      shared = scope;
    },
    get: async () => {
      const module = await extension();
      return () => module;
    }
  };
})();
