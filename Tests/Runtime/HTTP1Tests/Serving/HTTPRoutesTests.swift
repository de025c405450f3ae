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
    guard case .found(let route, let found) = try match(.get, target) else {
      Issue.record("not found")
      return
    }
    #expect(route.pattern == pattern)
    #expect(found == parameters)
  }

  @Test(
    "a path without a pattern is not found",
    arguments: ["/b", "/a/", "/a//c", "/A", "/a/x/", "/t", "/a/x/c/d", "//", "/a/%FF", "/u/1/2", "/%2Fa"])
  func findsNothing(_ target: String) throws {
    guard case .notFound = try match(.get, target) else {
      Issue.record("found")
      return
    }
  }

  @Test("a known path with another method tells the methods it has")
  func tellsMethods() throws {
    guard case .methodNotAllowed(let allow) = try match(.delete, "/a/b") else {
      Issue.record("allowed")
      return
    }
    #expect(allow == "GET, HEAD, OPTIONS, PUT")
  }

  @Test("HEAD is answered by GET unless it has a route of its own")
  func answersHead() throws {
    guard case .found(let route, _) = try match(.head, "/a/b") else {
      Issue.record("not found")
      return
    }
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
