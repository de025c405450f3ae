import HTTPTypes
import Testing

@testable import HTTP1

@Suite struct HTTPRoutesTests {
  @Test(
    "a path finds its pattern and the values in it",
    arguments: [
      ("/", "/", []), ("/a", "/a", []), ("/a/b", "/a/b", []), ("/a/x", "/a/{p}", ["x"]), ("/a/x/c", "/a/{p}/c", ["x"]),
      ("/a/b/c", "/a/{p}/c", ["b"]), ("/a/b/d", "/a/b/d", []), ("/%61/b", "/a/b", []), ("/a/%2F", "/a/{p}", ["/"]),
      ("/a/b%20c?d=e", "/a/{p}", ["b c"]), ("/t/", "/t/", []), ("http://h/a", "/a", []), ("http://h", "/", []),
      ("/u/1/2/3", "/u/{x}/{y}/{z}", ["1", "2", "3"]),
    ])
  func findsPattern(_ target: String, _ pattern: String, _ parameters: [String]) throws {
    guard case .found(let route, let found) = try match(.get, target) else { throw HandlerFailure() }
    #expect(route.pattern == pattern && found == parameters)
  }

  @Test(
    "a path without a pattern is not found",
    arguments: ["/b", "/a/", "/a//c", "/A", "/a/x/", "/t", "/a/x/c/d", "//", "/a/%FF", "/u/1/2", "/%2Fa"])
  func findsNothing(_ target: String) throws {
    guard case .notFound = try match(.get, target) else { throw HandlerFailure() }
  }

  @Test("a known path with another method tells the methods it has")
  func tellsMethods() throws {
    guard case .methodNotAllowed(let allow) = try match(.delete, "/a/b") else { throw HandlerFailure() }
    #expect(allow == "GET, HEAD, OPTIONS, PUT")
  }

  @Test("HEAD is answered by GET unless it has a route of its own")
  func answersHead() throws {
    guard case .found(let route, _) = try match(.head, "/a/b") else { throw HandlerFailure() }
    #expect(route.method == .get)
  }

  @Test("the methods of all paths are told together")
  func tellsAllMethods() {
    #expect(Self.routes.allMethods == "GET, HEAD, OPTIONS, PUT")
  }

  private static let routes: HTTPRoutes = {
    var routes = HTTPRoutes()
    for pattern in ["/", "/a", "/a/b", "/a/{p}", "/a/{p}/c", "/a/b/d", "/t/", "/u/{x}/{y}/{z}"] {
      routes.add(.get, pattern) { _, _ in HTTPServerResponse(status: .ok) }
    }
    routes.add(.put, "/a/b") { _, _ in HTTPServerResponse(status: .ok) }
    return routes
  }()

  private func match(_ method: HTTPRequest.Method, _ target: String) throws -> RouteMatch {
    var parser = RequestHeadParser(limits: HTTPLimits())
    let bytes = Array("\(method) \(target) HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
    return Self.routes.match(try #require(try parser.parse(bytes.span)))
  }
}

@Suite struct ProblemDetailsTests {
  @Test("a problem says by default what its status says")
  func hasDefaults() {
    #expect(text(ProblemDetails(.notFound)) == #"{"type":"about:blank","title":"Not Found","status":404}"#)
  }

  @Test("extension members follow in their order")
  func writesExtensions() {
    let problem = ProblemDetails(
      .badRequest, type: "/problems/field", title: "Bad field", detail: "too long",
      extensions: [
        ("field", .string("title")), ("limit", .integer(-50)), ("final", .boolean(true)),
        ("known", .strings(["a", "b"])),
      ])
    #expect(
      text(problem)
        == #"{"type":"/problems/field","title":"Bad field","status":400,"detail":"too long","field":"title","#
        + #""limit":-50,"final":true,"known":["a","b"]}"#)
  }

  @Test(
    "text is escaped",
    arguments: [
      (#"a"b"#, #"a\"b"#), (#"a\b"#, #"a\\b"#), ("a\nb", #"a\u000ab"#), ("\u{1f}", #"\u001f"#), ("é😀/", "é😀/"),
    ])
  func escapesText(_ detail: String, _ escaped: String) {
    #expect(text(ProblemDetails(.badRequest, detail: detail)).hasSuffix("\"detail\":\"\(escaped)\"}"))
  }

  private func text(_ problem: ProblemDetails) -> String { String(decoding: problem.json, as: UTF8.self) }
}

@Suite("Pages of other origins", .timeLimit(.minutes(5)))
struct CrossOriginsTests {
  private static func routes() -> HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add(.get, "/v1/hello") { _, _ in HTTPServerResponse(status: .ok, body: Array("hello".utf8)) }
    routes.add(.put, "/v1/hello", mediaTypes: ["application/json"]) { _, _ in throw ProblemDetails(.unauthorized) }
    routes.add(.get, "/clients/a.js", immediate: { _, _ in HTTPServerResponse(status: .ok) })
    routes.add(.get, "/dashboard") { _, _ in HTTPServerResponse(status: .ok) }
    return routes
  }

  private static func ask(_ line: String, _ fields: String, origins: Set<String> = ["https://app.example.com"])
    async throws
    -> String
  {
    var configuration = HTTPServiceConfiguration()
    configuration.crossOrigins.origins = origins
    let answer = Answer()
    try await ServiceRig.run(routes(), configuration: configuration) { rig in
      answer.text = try await rig.exchange("\(line) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(fields)\r\n")
    }
    return answer.text
  }

  // Only one task uses it.
  private final class Answer { var text = "" }

  @Test(
    "an origin that is named may read every answer, refusals too",
    arguments: [
      ("GET /v1/hello", 200), ("GET /clients/a.js", 200), ("PUT /v1/hello", 401), ("GET /v1/nothing", 404),
      ("DELETE /v1/hello", 405),
    ])
  func named(_ line: String, _ status: Int) async throws {
    let answer = try await Self.ask(line, "Origin: https://app.example.com\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
    #expect(answer.contains("\r\nAccess-Control-Allow-Origin: https://app.example.com\r\n"))
    #expect(answer.contains("\r\nAccess-Control-Expose-Headers: ETag, Retry-After\r\n"))
    #expect(answer.contains("\r\nVary: Origin\r\n"))
    #expect(!answer.contains("Allow-Credentials"))
  }

  @Test(
    "another origin, and another path, are told nothing",
    arguments: [
      ("/v1/hello", "https://app.example.com.evil.example"), ("/v1/hello", "http://app.example.com"),
      ("/v1/hello", "https://APP.example.com"), ("/v1/hello", "null"), ("/v1/hello", "https://app.example.com:8443"),
      ("/dashboard", "https://app.example.com"), ("/v1x", "https://app.example.com"),
    ])
  func others(_ path: String, _ origin: String) async throws {
    for method in ["GET", "OPTIONS"] {
      let answer = try await Self.ask(
        "\(method) \(path)", "Origin: \(origin)\r\nAccess-Control-Request-Method: GET\r\n")
      #expect(!answer.contains("Access-Control"))
    }
  }

  @Test("without origins nothing changes, and with them caches learn that answers differ")
  func none() async throws {
    let origin = "Origin: https://app.example.com\r\n"
    let silent = try await Self.ask("GET /v1/hello", origin, origins: [])
    #expect(!silent.contains("Access-Control") && !silent.contains("Vary"))
    let other = try await Self.ask("GET /clients/a.js", "")
    #expect(!other.contains("Access-Control") && other.contains("\r\nVary: Origin\r\n"))
  }

  @Test("a browser's question before is answered with the methods of the path and the fields that clients send")
  func question() async throws {
    let fields =
      "Origin: https://app.example.com\r\nAccess-Control-Request-Method: PUT\r\nAccess-Control-Request-Headers: authorization,content-type\r\n"
    let answer = try await Self.ask("OPTIONS /v1/hello", fields)
    #expect(answer.hasPrefix("HTTP/1.1 204 "))
    #expect(answer.contains("\r\nAccess-Control-Allow-Origin: https://app.example.com\r\n"))
    #expect(answer.contains("\r\nAccess-Control-Allow-Methods: GET, HEAD, OPTIONS, PUT\r\n"))
    let allowed = try #require(answer.split(separator: "\r\n").first { $0.hasPrefix("Access-Control-Allow-Headers: ") })
    for name in ["Authorization", "Content-Type", "If-None-Match"] { #expect(allowed.contains(name)) }
  }
}
