#include "cli/completion.h"

#include <cstdio>
#include <map>
#include <memory>

namespace headsplit::cli {
namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// "--db --json -h", without positionals.
std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += " --" + name;
    for (const std::string& name : option->get_snames()) words += " -" + name;
  }
  return words.empty() ? words : words.substr(1);
}

/// For shells that quote with single quotes.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string bash_script(const CLI::App& app) {
  const std::string name = app.get_name();
  std::string verbs;
  std::string cases;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs += verb->get_name() + " ";
    cases += "    " + verb->get_name() + ") words=\"" + words_of(*verb) + "\" ;;\n";
  }
  return "# bash completion for " + name + "\n_" + name +
         "() {\n  local words word=${COMP_WORDS[COMP_CWORD]}\n  case "
         "${COMP_CWORD}:${COMP_WORDS[1]} "
         "in\n    1:*) words=\"" +
         verbs + words_of(app) +
         "\" ;;\n  esac\n  [ \"$COMP_CWORD\" -gt 1 ] && case "
         "${COMP_WORDS[1]} in\n" +
         cases + "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n" +
         "complete -o default -F _" + name + " " + name + "\n";
}

std::string zsh_script(const CLI::App& app) {
  return "#compdef " + app.get_name() + "\nautoload -U +X bashcompinit && bashcompinit\n" +
         bash_script(app);
}

std::string fish_script(const CLI::App& app) {
  const std::string begin = "complete -c " + app.get_name();
  std::string script = "# fish completion for " + app.get_name() + "\n";
  for (const CLI::App* verb : verbs_of(app)) {
    script += begin + " -n __fish_use_subcommand -f -a " + verb->get_name() + " -d " +
              quoted(verb->get_description()) + "\n";
    for (const CLI::Option* option : verb->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        script += begin + " -n '__fish_seen_subcommand_from " + verb->get_name() + "' -l " + name +
                  " -d " + quoted(option->get_description()) + "\n";
      }
    }
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& app, Shell shell) {
  if (shell == Shell::fish) return fish_script(app);
  return shell == Shell::zsh ? zsh_script(app) : bash_script(app);
}

void add_completion(CLI::App& app, Outcome&) {
  const auto shell = std::make_shared<Shell>(Shell::bash);
  CLI::App* verb =
      app.add_subcommand("completion", "Print a script that completes verbs and options");
  verb->footer(
      "Example: headsplit completion bash > ~/.local/share/bash-completion/completions/headsplit");
  verb->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Shell>{
              {"bash", Shell::bash}, {"zsh", Shell::zsh}, {"fish", Shell::fish}},
          CLI::ignore_case));
  verb->callback([&app, shell] { std::fputs(completion_script(app, *shell).c_str(), stdout); });
}

}  // namespace headsplit::cli
