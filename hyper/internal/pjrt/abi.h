// The part of XLA's PJRT C API, major version 0, that the compile cache uses. PJRT only ever appends to its table and to its argument
// structs, so places and layouts are fixed; a test holds them against the header of go-xla.
#ifndef HYPER_PJRT_ABI_H
#define HYPER_PJRT_ABI_H

#include <stddef.h>

typedef struct error error; // PJRT_Error

// PJRT_Api. Its functions take one argument struct each.
typedef error* (*function)(void* args);
typedef struct {
  size_t struct_size;
  void* extension_start;
  struct {
    size_t struct_size;
    void* extension_start;
    int major_version, minor_version;
  } version;
  function functions[];
} api;

// Places in api.functions.
enum {
  ERROR_DESTROY = 0,
  CLIENT_PLATFORM_NAME = 12,
  CLIENT_PLATFORM_VERSION = 14,
  CLIENT_ADDRESSABLE_DEVICES = 16,
  CLIENT_COMPILE = 20,
  DEVICE_DESCRIPTION_KIND = 26,
  DEVICE_DESCRIPTION_DEBUG_STRING = 27,
  DEVICE_GET_DESCRIPTION = 29,
  EXECUTABLE_DESTROY = 40,
  EXECUTABLE_SERIALIZE = 49,
  LOADED_EXECUTABLE_GET_EXECUTABLE = 51,
  EXECUTABLE_DESERIALIZE_AND_LOAD = 56,
};

typedef struct {
  size_t struct_size;
  void* extension_start;
  error* error;
} error_destroy_args;

// PJRT_Program: code in a format, such as "mlir".
typedef struct {
  size_t struct_size;
  void* extension_start;
  char* code;
  size_t code_size;
  const char* format;
  size_t format_size;
} program;

typedef struct {
  size_t struct_size;
  void* extension_start;
  void* client;
  const program* program;
  const char* options;
  size_t options_size;
  void* executable;  // out
} compile_args;

// PJRT_Client_PlatformName_Args, PJRT_Client_PlatformVersion_Args, PJRT_DeviceDescription_Kind_Args and _DebugString_Args: a text of an object.
typedef struct {
  size_t struct_size;
  void* extension_start;
  void* object;
  const char* text;  // out
  size_t text_size;  // out
} text_args;

typedef struct {
  size_t struct_size;
  void* extension_start;
  void* client;
  void* const* devices;  // out
  size_t devices_size;   // out
} devices_args;

// PJRT_Device_GetDescription_Args and PJRT_LoadedExecutable_GetExecutable_Args: an object of an object.
typedef struct {
  size_t struct_size;
  void* extension_start;
  void* object;
  void* result;  // out
} get_args;

typedef struct {
  size_t struct_size;
  void* extension_start;
  void* executable;
} executable_destroy_args;

typedef struct {
  size_t struct_size;
  void* extension_start;
  const void* executable;
  const char* bytes;  // out
  size_t bytes_size;  // out
  void* serialized;   // out: what backs bytes
  void (*deleter)(void* serialized);  // out
} serialize_args;

typedef struct {
  size_t struct_size;
  void* extension_start;
  void* client;
  const char* bytes;
  size_t bytes_size;
  void* executable;  // out
  const char* options;  // NULL: those of the serialized executable
  size_t options_size;
} load_args;

#endif
