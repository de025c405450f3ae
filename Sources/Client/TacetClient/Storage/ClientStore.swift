public import Foundation

/// Keeps the library's documents over restarts of the app. ``FileStore`` conforms; tests and apps with a database
/// replace it.
///
/// The library stores no token of the user.
public protocol ClientStore: Sendable {
  /// The document under a name; nil without one, or when it cannot be read.
  func load(_ name: String) -> Data?

  /// Replaces the document under a name, wholly or not at all. Nil removes it.
  /// - Throws: when it could not be stored; the old document is still there.
  func save(_ document: Data?, as name: String) throws
}

/// Documents as files of one folder, each replaced atomically.
public struct FileStore: ClientStore {
  /// The largest file that is read, in bytes. The library writes at most twice the largest response, which has 1 MiB.
  static let bytesMax = 4 << 20

  private let folder: URL

  /// - Parameter folder: of the library and this process alone; made when it is needed. An app extension needs another.
  public init(folder: URL = Self.ownFolder) {
    self.folder = folder
  }

  /// `Tacet` among the app's supporting files.
  public static var ownFolder: URL {
    let files = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
    return (files ?? FileManager.default.temporaryDirectory).appendingPathComponent("Tacet", isDirectory: true)
  }

  /// Reads a file of at most 4 MiB.
  public func load(_ name: String) -> Data? {
    guard let file = try? FileHandle(forReadingFrom: url(of: name)) else { return nil }
    defer { try? file.close() }
    guard let content = try? file.read(upToCount: Self.bytesMax + 1), content.count <= Self.bytesMax else { return nil }
    return content
  }

  /// Writes a new file and renames it.
  public func save(_ document: Data?, as name: String) throws {
    guard let document else {
      try? FileManager.default.removeItem(at: url(of: name))
      return
    }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try document.write(to: url(of: name), options: .atomic)
  }

  private func url(of name: String) -> URL { folder.appendingPathComponent(name + ".json") }
}
