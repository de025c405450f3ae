import Cryptography
import PushRules
import Settings

/// A signing key made for this run.
let signingKeyPEM = P256PrivateKey().pem

/// The least that `serve` needs, changed as a test wants; nil takes a key away.
func makeEnvironment(_ changes: [String: String?] = [:]) -> [String: String] {
  var environment = [
    "DATABASE_URL": "postgresql://tacet:pa55word@db/app",
    "WEBHOOK_SECRET": "hook-secret-of-the-tests-0",
    "APNS_KEY_ID": "ABC123DEFG",
    "APNS_TEAM_ID": "DEF123GHIJ",
    "APNS_BUNDLE_ID": "com.example.app",
    "APNS_PRIVATE_KEY": signingKeyPEM,
    "PATH": "/usr/bin",
  ]
  for (key, value) in changes { environment[key] = value }
  return environment
}

/// The settings with these changes, and with these files and no others on the machine.
func makeSettings(_ changes: [String: String?] = [:], files: [String: String] = [:]) throws -> ServeSettings {
  try ServeSettings(environment: makeEnvironment(changes), readFile: makeFiles(files))
}

/// What an operator is told about settings with these changes; empty when they are fine.
func problems(_ changes: [String: String?], files: [String: String] = [:]) -> [SettingsProblem] {
  do {
    _ = try ServeSettings(environment: makeEnvironment(changes), readFile: makeFiles(files))
    return []
  } catch {
    return error.problems
  }
}

/// A machine with these files.
func makeFiles(_ files: [String: String]) -> (String) throws(FileReadError) -> [UInt8] {
  { path throws(FileReadError) in
    guard let text = files[path] else { throw FileReadError(reason: "No such file or directory") }
    return Array(text.utf8)
  }
}
