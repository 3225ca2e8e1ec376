// SPDX-License-Identifier: Apache-2.0
#pragma once

// Boost.Asio is slow to compile: headers of this room name its event loop only.
namespace boost::asio {
class io_context;
}
