#include "config/schema.hpp"

#include "catch.hpp"
#include "config/json_reader.hpp"
#include "config/settings_table.hpp"
#include "sample.hpp"

using namespace servecast::config;

TEST_CASE("the schema states types, ranges, choices, defaults, required keys and forms") {
  const Document schema = Document::from_text(
      // The reader drops $schema of a document; the schema's own is checked as text below.
      json_schema<sample::Pool>("pool"), "schema");
  CHECK(
      schema.text() ==
      R"({"additionalProperties":false,"properties":{)"
      R"("$schema":{"description":"for editors; ignored","type":"string"},)"
      R"j("extends":{"description":"the document that this one changes (RFC 7386): a relative path, or a stored one's name",)j"
      R"("type":"string"},)"
      R"("name":{"description":"name of the pool","type":"string"},)"
      R"("replicas":{"default":1,"description":"replicas | copies","maximum":1000,"minimum":1,"type":"integer"},)"
      R"("scheduler":{"additionalProperties":false,"description":"overrides the common one","properties":{)"
      R"("policy":{"default":"chunked-prefill","description":"who runs next",)"
      R"("enum":["fcfs","chunked-prefill","priority"],"type":"string"},)"
      R"("token_budget":{"default":8192,"description":"tokens of one step","maximum":1048576,"minimum":1,)"
      R"("type":"integer"}},)"
      R"("type":["object","null"]},)"
      R"("stack":{"description":"serving software","type":["string","object"]}},)"
      R"("required":["name"],"title":"pool","type":"object"})");
}

TEST_CASE("the schema of a whole document is well-formed and names draft-07") {
  const std::string text = json_schema<sample::Scenario>("scenario");
  CHECK(text.find("\"$schema\": \"http://json-schema.org/draft-07/schema#\"") != std::string::npos);
  const Document schema = Document::from_text(text, "schema");
  CHECK(schema.contains("/properties/pools/items/properties/scheduler/properties/policy/enum"));
  CHECK(schema.contains("/properties/arrivals/allOf/0/oneOf/1/required"));
  CHECK(schema.contains("/properties/arrivals/properties/rate_per_s/exclusiveMinimum"));
  CHECK(schema.contains("/properties/weights/default/1"));
  CHECK(text.find("\"required\": [\n    \"name\",\n    \"arrivals\"\n  ]") != std::string::npos);
  CHECK_FALSE(schema.contains("/properties/arrivals/properties/rate_per_s/default"));
  CHECK_FALSE(schema.contains("/properties/pools/items/properties/replicas/default"));
}

TEST_CASE("the settings table has a row for every key") {
  CHECK(settings_table<sample::Pool>() ==
        "| key | default | legal values | meaning |\n"
        "|---|---|---|---|\n"
        "| `/name` | required | text | name of the pool |\n"
        "| `/replicas` | `1` | whole number in [1, 1000] | replicas \\| copies |\n"
        "| `/stack` |  | name or inline object | serving software |\n"
        "| `/scheduler` |  | object | overrides the common one |\n"
        "| `/scheduler/policy` | `chunked-prefill` | fcfs / chunked-prefill / priority | who runs next |\n"
        "| `/scheduler/token_budget` | `8192` | whole number in [1, 1048576] | tokens of one step |\n");
  const std::string table = settings_table<sample::Scenario>();
  CHECK(table.find("| `/pools/*/scheduler/policy` |  |") != std::string::npos);
  CHECK(table.find("| `/arrivals` |  | exactly one of rate_per_s, concurrency | |") != std::string::npos);
}
