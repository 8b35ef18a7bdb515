// How --help lays out its text: 80 columns, descriptions wrapped beside their flags.
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace servecast::cli {

// For the app and every verb added to it later.
void lay_out_help(CLI::App& app);

}  // namespace servecast::cli
