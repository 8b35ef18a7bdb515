#include "catch.hpp"
#include "core/random.hpp"
#include "trace_files.hpp"

#include <fmt/format.h>

using namespace servecast;
using namespace std::string_literals;
using namespace servecast::workload;

namespace {

const std::string azure_head = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
const std::string azure_row = "2023-11-16 18:17:03.97,10,20\n";

std::string mooncake(const std::string& timestamp, const std::string& input, const std::string& output) {
  return fmt::format("{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash_ids\": [1]}}\n",
                     timestamp, input, output);
}

std::string burstgpt(const std::string& timestamp) {
  return "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n" + timestamp +
         ",GPT-4,1,2,3,API log\n";
}

}  // namespace

TEST_CASE("a file that is not there is a matter of the outside world") {
  CHECK_THROWS_AS(Trace("/nowhere/trace.csv"), core::Error);
  CHECK_THROWS_WITH(Trace("/nowhere/trace.csv"), "cannot read /nowhere/trace.csv: No such file or directory");
  CHECK_THROWS_WITH(Trace("/"), "cannot read /: it is a folder");
}

TEST_CASE("an empty trace is refused") {
  CHECK(complaint("") == "F: is empty; a trace has at least one request");
  CHECK(complaint("\n\n") == "F: is empty; a trace has at least one request");
  CHECK(complaint("", TraceFormat::Azure) == "F: is empty; a trace has at least one request");
  CHECK(complaint(azure_head) == "F: holds no requests; a trace has at least one");
  CHECK(complaint(mooncake("0", "5", "0")) == "F: holds no usable request: every row has no output tokens");
}

TEST_CASE("a truncated line is refused with its number") {
  CHECK(complaint(azure_head + azure_row + "2023-11-16 18:17:04.1,10") ==
        "F:3: the row has 2 fields where the header has 3; it is truncated or damaged");
  CHECK(complaint(mooncake("0", "5", "6") + "{\"timestamp\": 3, \"input_len").find("F:2: not valid JSON at byte") == 0);
  CHECK(complaint(mooncake("0", "5", "6") + "{\"timestamp\": 3}\n") ==
        "F:2: input_length is missing, which format mooncake needs");
}

TEST_CASE("values that are no numbers are refused") {
  CHECK(complaint(azure_head + "2023-11-16 18:17:03.97,ten,20\n") ==
        "F:2: ContextTokens is 'ten'; expected a whole number from 0 to 2147483647");
  CHECK(complaint(azure_head + "2023-11-16 18:17:03.97,,20\n") ==
        "F:2: ContextTokens is empty; expected a whole number from 0 to 2147483647");
  CHECK(complaint(burstgpt("NaN")) == "F:2: Timestamp is 'NaN'; expected a number");
  CHECK(complaint(burstgpt("inf")) == "F:2: Timestamp is 'inf'; expected a number");
  CHECK(complaint(mooncake("NaN", "5", "6")).find("F:1: not valid JSON") == 0);
  CHECK(complaint(mooncake("\"soon\"", "5", "6")) == "F:1: timestamp is '\"soon\"'; expected a number");
  CHECK(complaint(mooncake("0", "5.5", "6")) ==
        "F:1: input_length is '5.5'; expected a whole number from 0 to 2147483647");
  CHECK(complaint(azure_head + "2023-13-16 18:17:03.97,10,20\n").find("F:2: TIMESTAMP is '2023-13-16") == 0);
  CHECK(complaint(azure_head + "2023-02-30 18:17:03.97,10,20\n").find("F:2: TIMESTAMP is '2023-02-30") == 0);
  CHECK(complaint(azure_head + "2023-02-20 18:17:03.,10,20\n").find("expected digits after the decimal point") !=
        std::string::npos);
}

TEST_CASE("negative and falling times are refused") {
  CHECK(complaint(burstgpt("-5")) == "F:2: Timestamp is '-5'; expected a time >= 0");
  CHECK(complaint(mooncake("-1", "5", "6")) == "F:1: timestamp is '-1'; expected a time >= 0");
  CHECK(complaint(mooncake("3000", "5", "6") + mooncake("1500", "5", "6")) ==
        "F:2: the request arrives 1.5 s before the row above it; sort the trace by time");
}

TEST_CASE("a prompt of no tokens is refused") {
  CHECK(complaint(azure_head + azure_row + "2023-11-16 18:17:05.1,0,10\n") ==
        "F:3: the prompt has 0 tokens; expected at least 1, remove the row or correct it");
}

TEST_CASE("huge numbers are refused") {
  CHECK(complaint(mooncake("0", "2147483648", "6")) ==
        "F:1: input_length is '2147483648'; expected a whole number from 0 to 2147483647");
  CHECK(complaint(mooncake("0", "99999999999999999999999", "6")).find("F:1: input_length is ") == 0);
  CHECK(complaint(mooncake("99999999999999999999", "5", "6")).find("F:1: timestamp is ") == 0);
  CHECK(complaint(mooncake("1e999", "5", "6")).find("F:1: ") == 0);
  CHECK(complaint(burstgpt("1e300")) == "F:2: Timestamp is '1e300'; expected a time below 9.2e9 s");
}

TEST_CASE("a Git LFS pointer is named as such, with the way to fetch the file") {
  CHECK(complaint("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n") ==
        "F: is a Git LFS pointer, not the trace; run `git lfs pull` in its repository");
}

TEST_CASE("a line of 10 MB is refused without being held") {
  CHECK(complaint(mooncake("0", "5", "6") + std::string(10000000, 'x')) ==
        "F:2: the line is longer than 1 MiB; a trace has one request a line");
  CHECK(complaint(azure_head + std::string(10000000, '1') + "\n") ==
        "F:2: the line is longer than 1 MiB; a trace has one request a line");
}

TEST_CASE("text that is no UTF-8 and binary data are refused") {
  CHECK(complaint(azure_head + "2023-11-16 18:17:03.97,\xff,20\n") ==
        "F:2: byte 24 of the line is 0xff: not valid UTF-8; a trace is UTF-8 text");
  CHECK(complaint(azure_head + "\xed\xa0\x80,1,20\n").find("F:2: byte 1 of the line is 0xed") == 0);
  CHECK(complaint("\x7f"
                  "ELF\x02\x00\x00\x01"s) ==
        "F:1: byte 6 of the line is 0x00: the file is binary; a trace is UTF-8 text");
}

TEST_CASE("damaged compression is refused") {
  CHECK(complaint("\x1f\x8b\x08\x00 this is no gzip data at all"s) ==
        "F:1: compressed data is damaged or cut short; fetch the file again");
  CHECK(complaint("\xfd"
                  "7zXZ\0 nor is this xz data"s) ==
        "F:1: compressed data is damaged or cut short; fetch the file again");
  for (const std::string_view packed : {gzip_of_two_rows, xz_of_two_rows}) {
    const std::string whole = bytes(packed);
    CHECK(complaint(whole).empty());
    for (std::size_t kept = 6; kept < whole.size(); ++kept) {
      CAPTURE(kept, whole.size());
      CHECK_FALSE(complaint(whole.substr(0, kept)).empty());
    }
  }
  CHECK(complaint(azure_head + azure_row, TraceFormat::Auto, ".csv.gz") ==
        "F: is not compressed as its name says; rename it or fetch it again");
}

TEST_CASE("an unknown or wrong format is refused") {
  CHECK(complaint("a,b,c\n1,2,3\n").find("F:1: the first line 'a,b,c' is of no known trace format") == 0);
  CHECK(complaint("{\"a\": 1}\n").find("F:1: the first line") == 0);
  CHECK(complaint("[1, 2]\n").find("F:1: the first line") == 0);
  CHECK(complaint(azure_head + azure_row, TraceFormat::Burstgpt).find("F:1: the header") == 0);
  CHECK(complaint(azure_head + azure_row, TraceFormat::Mooncake).find("F:1: not valid JSON") == 0);
  CHECK(complaint("[1, 2]\n", TraceFormat::Mooncake) == "F:1: the line holds an array; expected one JSON object");
  CHECK(complaint("{\"id\":\"x\",\"hash_id_scope\":\"local\",\"requests\":[]}\n").find("F: is one agentic session") ==
        0);
  CHECK(complaint("{\"servecast_trace\":2,\"block_tokens\":16}\n") ==
        "F:1: servecast_trace is 2; this version reads 1");
}

TEST_CASE("keys given twice, ids of a wrong kind and deep nesting are refused or passed over") {
  CHECK(complaint("{\"timestamp\":0,\"timestamp\":0,\"input_length\":1,\"output_length\":1}\n",
                  TraceFormat::Mooncake) == "F:1: timestamp is given twice");
  CHECK(complaint("{\"timestamp\":0,\"input_length\":1,\"output_length\":1,\"hash_ids\":[1.5]}\n") ==
        "F:1: hash_ids is an array that holds 1.5; expected an array of whole numbers");
  CHECK(complaint("{\"timestamp\":0,\"input_length\":1,\"output_length\":1,\"hash_ids\":7}\n") ==
        "F:1: hash_ids is 7; expected an array of whole numbers");
  CHECK(complaint("{\"timestamp\":0,\"input_length\":1,\"output_length\":1,\"x\":" + std::string(100000, '[') + "\n")
            .find("F:1: not valid JSON") == 0);
  CHECK(complaint("{\"timestamp\":0,\"input_length\":1,\"output_length\":1,\"x\":" + std::string(100000, '[') +
                  std::string(100000, ']') + "}\n")
            .empty());
}

TEST_CASE("our own format refuses keys it does not know and prefixes longer than the prompt") {
  const std::string row = "{\"arrival_s\":0,\"input_tokens\":20,\"output_tokens\":1";
  CHECK(complaint(row + ",\"prefx\":[1]}\n") == "F:1: unknown key 'prefx'; did you mean \"prefix\"?");
  CHECK(complaint("{\"servecast_trace\":1,\"block_token\":16}\n" + row + "}\n") ==
        "F:1: unknown key 'block_token'; did you mean \"block_tokens\"?");
  const std::string header = "{\"servecast_trace\":1,\"block_tokens\":16}\n";
  CHECK(complaint(header + row + ",\"prefix\":[1,2]}\n").empty());
  CHECK(complaint(header + row + ",\"prefix\":[1,2,3]}\n") ==
        "F:2: prefix holds 3 ids, but 20 input tokens are 2 blocks of 16; leave out the rest");
}

TEST_CASE("no damaged byte makes a reader do anything but read or refuse") {
  const std::vector<std::string> seeds = {
      azure_head + azure_row + "2023-11-16 18:17:04.0319600,3180,8\r\n2023-11-16T18:18:04Z,3,8",
      burstgpt("5") + "45,ChatGPT,1087,0,1087,Conversation log\n1e2,GPT-4,4,3,7,API log\n",
      mooncake("0", "600", "5") + mooncake("27000", "5", "6"),
      "{\"chat_id\": 0, \"timestamp\": 0.5, \"input_length\": 20, \"output_length\": 9, \"hash_ids\": [0, 1]}\n",
      "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n0,2,0,1,1,4096,32\n",
      "{\"servecast_trace\":1,\"block_tokens\":16}\n{\"arrival_s\":1.5,\"input_tokens\":3,\"output_tokens\":1,"
      "\"prefix\":[1],\"session\":2}\n"};
  core::Random random(7, "test/damage");
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = seeds[random.below(seeds.size())];
    const std::uint64_t damages = 1 + random.below(4);
    for (std::uint64_t i = 0; i < damages && !text.empty(); ++i) {
      const std::size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0: text[at] = static_cast<char>(random.below(256)); break;
        case 1: text.erase(at, 1 + random.below(8)); break;
        case 2: text.insert(at, 1, "0123456789-+.eE,:[]{}\"\n\r\0x"[random.below(26)]); break;
        default: text.resize(at); break;
      }
    }
    refused += complaint(text).empty() ? 0 : 1;  // any other exception fails the test
  }
  CHECK(refused > 1000);
  CHECK(refused < 3000);
}
