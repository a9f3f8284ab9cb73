//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

#include "hook.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

// PJRT passes no context to its functions, so each plugin needs a compile function of its own.
static error* compile0(void* args) { return compile(0, args); }
static error* compile1(void* args) { return compile(1, args); }
static error* compile2(void* args) { return compile(2, args); }
static error* compile3(void* args) { return compile(3, args); }
static const function compiles[MOST_PLUGINS] = {compile0, compile1, compile2, compile3};

api* hook(const api* plugin, int slot) {
  api* copy = malloc(plugin->struct_size);
  if (copy != NULL) {
    memcpy(copy, plugin, plugin->struct_size);
    copy->functions[CLIENT_COMPILE] = compiles[slot];
  }
  return copy;
}

const api* load_plugin(const char* path, const char** why) {
  void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL) {
    *why = dlerror();
    return NULL;
  }
  const api* (*get)(void) = (const api* (*)(void))dlsym(library, "GetPjrtApi");
  if (get == NULL) {
    *why = dlerror();
    return NULL;
  }
  const api* plugin = get();
  if (plugin == NULL) *why = "GetPjrtApi returned nothing";
  return plugin;
}

error* call(const api* plugin, int function, void* args) { return plugin->functions[function](args); }

int has(const api* plugin, int function) {
  return plugin->struct_size >= offsetof(api, functions) + (function + 1) * sizeof(plugin->functions[0]) && plugin->functions[function] != NULL;
}

void free_serialized(serialize_args* args) {
  if (args->deleter != NULL) args->deleter(args->serialized);
}
