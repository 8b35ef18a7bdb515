// SHA-256 (FIPS 180-4), to name the exact files a profile was fitted to.
#pragma once

#include <string>
#include <string_view>

namespace servecast::calibrate {

std::string sha256(std::string_view bytes);  // 64 hexadecimal digits
std::string sha256_of_file(const std::string& path);  // throws core::Error if it cannot be read

}  // namespace servecast::calibrate
