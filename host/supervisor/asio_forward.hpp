// SPDX-License-Identifier: Apache-2.0
#pragma once

// Boost.Asio is slow to compile, so headers in this folder only forward-declare its event loop.
namespace boost::asio {
class io_context;
}
