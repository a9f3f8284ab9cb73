#ifndef HYPER_PJRT_HOOK_H
#define HYPER_PJRT_HOOK_H

#include "abi.h"

#define MOST_PLUGINS 4

// hook returns a copy of a plugin's table of functions in which PJRT_Client_Compile calls the Go function compile(slot,
// args). It returns NULL if there is not enough memory.
api* hook(const api* plugin, int slot);

// load_plugin opens a plugin's library and returns its table of functions. If this fails, it returns NULL and sets *why
// to the reason. The library stays loaded.
const api* load_plugin(const char* path, const char** why);

error* call(const api* plugin, int function, void* args);
int has(const api* plugin, int function);
void free_serialized(serialize_args* args);

#endif
