internal import Cryptography
internal import HTTP1
internal import HTTPTypes

/// `GET /clients/{file}`: the modules and the service worker that browsers load.
enum ClientFileRoutes {
  /// Browsers look at a worker's script again whatever this says, and at modules after five minutes.
  private static let lifetime = "max-age=300"

  static func add(to routes: inout HTTPRoutes) {
    let files = Dictionary(uniqueKeysWithValues: BrowserClientFiles.all.map { ($0.name, response(of: $0)) })
    routes.add(
      .get, "/clients/{file}", bodyBytesMax: RouteGroup.bodyBytesMax,
      immediate: { request, _ in
        guard let (tag, response) = files[request.parameter("file")] else {
          return ProblemDetails(.notFound, detail: "There is no such file.").response
        }
        guard request.head.fields[.ifNoneMatch] != tag else {
          return HTTPServerResponse(status: .notModified, fields: [.eTag: tag, .cacheControl: lifetime])
        }
        return response
      })
  }

  private static func response(of file: BrowserClientFiles.File) -> (tag: String, response: HTTPServerResponse) {
    let body = Array(file.text.utf8)
    let tag = "\"\(SHA256.hash(body).hexadecimal(bytes: 16))\""
    // A worker may serve the whole site, wherever its script is.
    let fields: HTTPFields = [
      .contentType: file.mediaType, .eTag: tag, .cacheControl: lifetime, .serviceWorkerAllowed: "/",
    ]
    return (tag, HTTPServerResponse(status: .ok, fields: fields, body: body))
  }
}

extension HTTPField.Name {
  fileprivate static let serviceWorkerAllowed = Self("Service-Worker-Allowed")!
}
