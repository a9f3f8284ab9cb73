// An extension of JupyterLab, as a container of module federation. It uses Lab's own modules, and needs no bundler.
// - In errors of cells, and in their standard error, "cell [3], line 2" becomes a link to that line.
// - A widget whose program has ended is shown as a picture.
// - Cells show their output that came while their notebook was closed.
// - The launcher has a card for the first notebook.
(() => {
  const PLACE = /cell (?:In)?\[(\d+)\], line (\d+)/gi;
  const GONE = 'Error displaying widget: model not found'; // the text that ipywidgets shows
  const KERNEL = 'go-hypermodels'; // The names of all our kernels begin with this text.
  const FIRST = '00-start-here.ipynb';
  let shared; // Lab's modules, by name and version, as { get }.

  async function load(name) {
    const [module] = Object.values(shared[name]);
    return (await module.get())();
  }

  async function extension() {
    const names = ['apputils', 'launcher', 'notebook', 'rendermime', 'ui-components'];
    const [apputils, launcher, notebook, rendermime, components] = await Promise.all(
      names.map(name => load(`@jupyterlab/${name}`))
    );
    const { Notification } = apputils;
    const { ILauncher } = launcher;
    const { INotebookTracker } = notebook;
    const { IRenderMimeRegistry, errorRendererFactory } = rendermime;
    const { notebookIcon } = components;

    function activate(_app, tracker, rendermime) {
      if (!errorRendererFactory) {
        return; // JupyterLab before 4.1.
      }
      rendermime.addFactory({
        ...errorRendererFactory,
        createRenderer: options => {
          const renderer = errorRendererFactory.createRenderer(options);
          // Text is rendered in pieces, and again when more of a stream comes.
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
        const cell = cells.find(c => c.node.contains(a)) ?? cells[0]; // A new kernel begins with number 1 again.
        if (!cell) {
          Notification.info(`There is no cell [${count}]. It has run again, or was deleted.`, { autoClose: 5000 });
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

    // A notebook that is opened again has a widget's output, but the widget's program has ended. The picture in the
    // output is shown instead.
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
        note.textContent = 'This is a picture. Run the cell to use its controls.';
        node.replaceChildren(renderer.node, note);
      }
    }

    // While a notebook is closed, its page loses the output of its cells, but the kernel keeps it (layer/transcript.go).
    // A notebook that is opened again shows this output, and the further output of running cells.
    function activateCells(_app, tracker) {
      tracker.forEach(follow);
      tracker.widgetAdded.connect((_, panel) => follow(panel));

      function follow(panel) {
        const context = panel.sessionContext;
        const late = new Map(); // executions that an earlier page requested, by request
        let shown = []; // requests whose outputs are complete in the notebook, but not saved yet
        let saving = [];
        let kernel;

        context.iopubMessage.connect((_, message) => {
          const { msg_id: request, session, msg_type: type } = message.parent_header;
          late.get(request)?.take(message);
          const idle = message.header.msg_type === 'status' && message.content.execution_state === 'idle';
          if (idle && type === 'execute_request' && (late.delete(request) || session === kernel?.clientId)) {
            shown.push(request);
          }
        });

        panel.context.saveState.connect((_, state) => {
          if (state === 'started') {
            saving = shown;
            shown = [];
          } else if (state === 'completed' && saving.length) {
            ask(kernel, { saved: saving });
          } else if (state === 'failed') {
            shown = [...saving, ...shown];
          }
        });

        function catchUp() {
          if (kernel === context.session?.kernel) {
            return;
          }
          kernel = context.session?.kernel;
          ask(kernel, {}, ({ cells }) => {
            for (const { request, session, cell: id } of cells) {
              const cell = panel.content.widgets.find(c => c.model.type === 'code' && c.model.id === id);
              if (cell && session !== kernel.clientId) {
                ask(kernel, { take: request }, answer => answer.outputs && show(cell, request, answer));
              }
            }
          });
        }

        function show(cell, request, answer) {
          const one = new Late(cell, request);
          if (answer.done) {
            shown.push(request);
          } else {
            late.set(request, one);
          }
          one.begin(answer);
        }

        void Promise.all([panel.revealed, context.ready]).then(() => {
          context.kernelChanged.connect(catchUp);
          catchUp();
        });
      }

      // ask sends data to the kernel and calls then with the answer, before later messages arrive.
      function ask(kernel, data, then) {
        if (kernel?.name.startsWith(KERNEL) && kernel.handleComms) {
          const comm = kernel.createComm('hypermodels.cells');
          comm.onMsg = message => then?.(message.content.data);
          comm.open(data);
        }
      }
    }

    // Late replaces the future of a request that another page sent: it passes messages to a cell's output area.
    class Late {
      constructor(cell, request) {
        this.cell = cell;
        this.msg = { header: { msg_id: request } };
        this.done = new Promise(resolve => {
          this.end = resolve;
        });
        cell.model.clearExecution();
        cell.outputHidden = false;
        cell.outputArea.future = this; // This sets onIOPub.
      }

      begin({ outputs, count, done }) {
        for (const { type, content } of outputs) {
          this.onIOPub({ header: { msg_type: type }, content });
        }
        this.count = count;
        if (done) {
          this.finish();
        } else {
          this.cell.model.executionState = 'running';
        }
      }

      take(message) {
        const { msg_type: type } = message.header;
        if (type === 'execute_input') {
          this.count = message.content.execution_count;
        } else if (type === 'status' && message.content.execution_state === 'idle') {
          this.finish();
        } else {
          this.onIOPub(message);
        }
      }

      finish() {
        if (this.cell.outputArea.future === this) {
          this.cell.model.executionState = 'idle';
          this.cell.model.executionCount = this.count || null;
        }
        this.end();
      }

      // dispose is called when the cell runs again or is deleted.
      dispose() {
        this.onIOPub = () => {};
      }
    }

    // The launcher's first card opens the first notebook, if the folder has it.
    async function activateStart(app, launcher) {
      const found = await app.serviceManager.contents.get(FIRST, { content: false }).catch(() => null);
      if (found) {
        app.commands.addCommand('hypermodels:start', {
          label: 'Start here',
          caption: `Open ${FIRST}`,
          execute: () => app.commands.execute('docmanager:open', { path: FIRST })
        });
        const kernelIconUrl = `data:image/svg+xml,${encodeURIComponent(notebookIcon.svgstr)}`;
        launcher.add({ command: 'hypermodels:start', category: 'Notebook', rank: -1, kernelIconUrl });
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
        plugin('plugin', 'Errors of the Go kernel link to lines of cells.',
          [INotebookTracker, IRenderMimeRegistry], activate),
        plugin('pictures', 'Widgets whose program has ended show a picture.',
          [INotebookTracker], activatePictures),
        plugin('cells', 'Cells show output that came while their notebook was closed.',
          [INotebookTracker], activateCells),
        plugin('start', "The launcher's first card opens the first notebook.", [ILauncher], activateStart)
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
