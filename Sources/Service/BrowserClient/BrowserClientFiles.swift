/// The JavaScript modules and the service worker that browsers load from the service.
public enum BrowserClientFiles {
  /// One file: its name and its text.
  public struct File: Sendable {
    /// The last part of its address.
    public let name: String
    /// UTF-8.
    public let text: String

    /// The value of Content-Type. Browsers load no module of another type.
    public var mediaType: String {
      name.hasSuffix(".ts") ? "text/plain; charset=utf-8" : "text/javascript; charset=utf-8"
    }
  }

  /// All of them.
  public static let all = EmbeddedFiles.all.map { File(name: $0.name, text: $0.text) }
}
