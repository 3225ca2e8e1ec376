// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/python_api.hpp"

#include <dlfcn.h>

#include <string>

#include "collect/collector.hpp"

namespace kymo::collect {
namespace {

template <class Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

template <class Function>
void require(Function& function, const char* name) {
  find(function, name);
  if (function == nullptr) throw Unavailable(std::string("the process has no function ") + name);
}

}  // namespace

PythonApi PythonApi::of_process() {
  PythonApi api;
  find(api.is_initialized, "Py_IsInitialized");
  if (api.is_initialized == nullptr || api.is_initialized() == 0)
    throw Unavailable("the process has no Python interpreter");
  require(api.gil_check, "PyGILState_Check");
  require(api.this_thread_state, "PyGILState_GetThisThreadState");
  require(api.gil_ensure, "PyGILState_Ensure");
  require(api.gil_release, "PyGILState_Release");
  require(api.gc_disable, "PyGC_Disable");
  require(api.gc_enable, "PyGC_Enable");
  require(api.current_frame, "PyEval_GetFrame");
  require(api.frame_back, "PyFrame_GetBack");
  require(api.frame_code, "PyFrame_GetCode");
  require(api.frame_line, "PyFrame_GetLineNumber");
  find(api.frame_instruction, "PyFrame_GetLasti");
  require(api.line_of, "PyCode_Addr2Line");
  require(api.attribute, "PyObject_GetAttrString");
  require(api.utf8, "PyUnicode_AsUTF8AndSize");
  require(api.error_occurred, "PyErr_Occurred");
  require(api.error_clear, "PyErr_Clear");
  require(api.retain, "Py_IncRef");
  require(api.release, "Py_DecRef");
  return api;
}

}  // namespace kymo::collect
