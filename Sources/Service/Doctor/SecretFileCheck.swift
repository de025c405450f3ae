internal import Glibc
internal import Settings

/// Whether files that hold secrets are kept from others on the machine.
enum SecretFileCheck {
  /// What was found of a file: its permissions, as `chmod` takes them.
  struct File: Equatable {
    let setting: String
    let path: String
    let mode: UInt32
  }

  static func judge(_ file: File) -> CheckFinding {
    let name = "file \(file.path)"
    let mode = String(file.mode & 0o7777, radix: 8)
    guard file.mode & 0o006 != 0 else {
      return CheckFinding(name, .ok, "\(file.setting), permissions \(mode)")
    }
    let everybody = file.mode & 0o002 != 0 ? "changed" : "read"
    return CheckFinding(
      name, .warning, "\(file.setting) can be \(everybody) by every user of the machine (permissions \(mode))",
      remedy: "chmod o-rw '\(file.path)'")
  }

  /// Looks at a file; nil when there is none, as when something else than a path is in the setting.
  static func look(at file: ExaminedSettings.SecretFile) -> File? {
    var status = stat()
    guard stat(file.path, &status) == 0 else { return nil }
    return File(setting: file.key, path: file.path, mode: status.st_mode)
  }
}
