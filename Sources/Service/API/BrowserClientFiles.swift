/// The JavaScript modules and the service worker that browsers load from the service.
package enum BrowserClientFiles {
  package struct File: Sendable {
    /// The last part of its address.
    package let name: String
    /// UTF-8.
    package let text: String

    /// The value of Content-Type. Browsers load no module of another type.
    package var mediaType: String {
      name.hasSuffix(".ts") ? "text/plain; charset=utf-8" : "text/javascript; charset=utf-8"
    }
  }

  package static let all = EmbeddedFiles.all.filter { $0.name.hasSuffix(".js") || $0.name.hasSuffix(".ts") }
    .map { File(name: $0.name, text: $0.text) }
}
