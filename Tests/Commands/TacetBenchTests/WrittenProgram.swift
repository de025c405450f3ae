import TestProcesses

/// Writes a shell script that can be run.
///
/// By another process: a descriptor of this one could be inherited by a child that another test starts at the same
/// moment, and a program that somebody may write to cannot be run.
func writeProgram(_ lines: String, to path: String) async throws {
  let command = ["/bin/sh", "-c", #"printf '#!/bin/sh\n%s' "$1" >"$0" && chmod 755 "$0""#, path, lines]
  _ = try await onOwnThread { try run(command) }
}
