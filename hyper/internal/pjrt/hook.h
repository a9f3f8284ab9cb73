#ifndef HYPER_PJRT_HOOK_H
#define HYPER_PJRT_HOOK_H

#include "abi.h"

#define MOST_PLUGINS 4

// hook returns a copy of a plugin's table in which compile is compiled(slot, args) of Go, or NULL without memory.
api* hook(const api* plugin, int slot);

// load_plugin opens a plugin's library and returns its table; NULL, with the reason in *why, when it cannot. The library stays loaded.
const api* load_plugin(const char* path, const char** why);

error* call(const api* plugin, int function, void* args);
int has(const api* plugin, int function);
void free_serialized(serialize_args* args);

#endif
