import Glibc
import Reactors

/// Starts a program.
enum ChildSpawn {
  /// - Parameters:
  ///   - command: the program, looked for in `PATH` when it has no slash, and its arguments.
  ///   - environment: all of its environment, as `NAME=VALUE`.
  ///   - input: becomes its standard input; nil for the end of input.
  ///   - third: becomes its descriptor 3.
  ///   - log: the file that its output is added to; nil to drop it.
  static func start(
    _ command: [String], environment: [String], input: Int32? = nil, third: Int32? = nil, log: String? = nil
  ) throws(SystemError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    if let third { posix_spawn_file_actions_adddup2(&actions, third, 3) }
    posix_spawn_file_actions_addopen(&actions, 1, log ?? "/dev/null", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    return try spawn(command, environment, actions)
  }

  /// With no signal blocked: this process's threads may block nearly all of them.
  private static func spawn(
    _ command: [String], _ environment: [String], _ actions: posix_spawn_file_actions_t
  ) throws(SystemError) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var unblocked = sigset_t()
    sigemptyset(&unblocked)
    posix_spawnattr_setsigmask(&attributes, &unblocked)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let arguments = command.map { strdup($0) } + [nil]
    let variables = environment.map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var id: pid_t = 0
    var actions = actions
    let code = posix_spawnp(&id, command[0], &actions, &attributes, arguments, variables)
    guard code == 0 else { throw SystemError(operation: "start of \(command[0])", code: code) }
    return id
  }
}
