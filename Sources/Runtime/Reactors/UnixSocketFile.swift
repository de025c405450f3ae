internal import CLinux
internal import Glibc

/// The file of a Unix socket, told from a later file at the same path by its number.
struct UnixSocketFile {
  private let path: String
  private let device: dev_t
  private let number: ino_t

  /// The file at a path; nil if there is none, or if it is no socket.
  init?(at path: String) {
    guard let status = Self.status(of: path) else { return nil }
    self.path = path
    device = status.st_dev
    number = status.st_ino
  }

  /// Sets the permissions.
  func setMode(_ mode: UInt32) throws(SystemError) {
    guard chmod(path, mode) == 0 else { throw SystemError(operation: "chmod \(path)", code: errno) }
  }

  /// Removes the file if it is still the same.
  func remove() {
    guard let status = Self.status(of: path), status.st_dev == device, status.st_ino == number else { return }
    unlink(path)
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
    return status
  }
}
