internal import HTTP1
internal import HTTPTypes
internal import Reactors

/// The two endpoints of Google: access tokens at `/token`, and messages.
struct ServiceRoutes: Sendable {
  /// Far larger than any message that is accepted.
  private static let bodyBytesMax = 256 * 1024

  /// Paths with up to this many segments get Google's page for unknown ones.
  private static let segmentsMax = 8

  private static let notFound = HTTPServerResponse(
    status: .notFound, fields: [.contentType: "text/html; charset=UTF-8"],
    body: Array("<!DOCTYPE html>\n<html lang=en>\n<title>Error 404 (Not Found)!!1</title>\n".utf8))

  let service: SimulatedFCM

  func table() -> HTTPRoutes {
    var routes = HTTPRoutes()
    let service = service
    routes.add(.post, "/token", bodyBytesMax: Self.bodyBytesMax) { request, reactor in
      try await Self.answer(request, .token, service, on: reactor) { books, fault in
        try books.exchange(Self.form(request), fault: fault)
      }
    }
    routes.add(.post, "/v1/projects/{project}/messages:send", bodyBytesMax: Self.bodyBytesMax) { request, reactor in
      try await Self.answer(request, .send, service, on: reactor) { books, fault in
        try Self.send(request, &books, fault)
      }
    }
    addUnknown("/token", to: &routes, except: .post)
    addUnknown("/v1/projects/{project}/messages:send", to: &routes, except: .post)
    addUnknown("/", to: &routes)
    for count in 1...Self.segmentsMax {
      addUnknown((1...count).reduce("") { $0 + "/{s\($1)}" }, to: &routes)
    }
    return routes
  }

  private func addUnknown(_ pattern: String, to routes: inout HTTPRoutes, except known: HTTPRequest.Method? = nil) {
    for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] where method != known {
      routes.add(method, pattern, bodyBytesMax: Self.bodyBytesMax) { _, _ in Self.notFound }
    }
  }

  /// Answers a request, with the next fault of its endpoint.
  private static func answer(
    _ request: HTTPServerRequest, _ endpoint: FCMFaultDocument.Endpoint, _ service: SimulatedFCM,
    on reactor: isolated Reactor, judge: (inout FCMBooks, FCMFaultDocument?) throws -> HTTPServerResponse
  ) async throws -> HTTPServerResponse {
    let (fault, conduct) = service.withBooks { books in
      (books.faults.next { $0.concerns(endpoint) }, books.conduct)
    }
    if fault?.kind == .dropBefore { throw HTTPHangUp() }
    if fault?.kind == .silence {
      _ = await service.held.wait(for: nil, on: reactor)
      throw HTTPHangUp()
    }
    let response = try service.withBooks { try judge(&$0, fault) }
    if fault?.kind == .dropAfter { throw HTTPHangUp() }
    let delay = Duration.milliseconds(conduct.delayMilliseconds + (fault?.delayMilliseconds ?? 0))
    if delay > .zero, await !service.held.wait(for: delay, on: reactor) { throw HTTPHangUp() }
    return response
  }

  private static func send(
    _ request: HTTPServerRequest, _ books: inout FCMBooks, _ fault: FCMFaultDocument?
  ) throws -> HTTPServerResponse {
    let result = books.send(
      request.body, to: request.parameter("project"), authorization: request.head[.authorization], fault: fault)
    switch result {
    case .failure(let error): return try error.response(isReversed: books.conduct.reversesDetails)
    case .success(let name):
      return try fault?.rawResponse ?? HTTPServerResponse(json: sortedJSON(["name": name]))
    }
  }

  /// The fields of an encoded form; of equal names the first.
  private static func form(_ request: HTTPServerRequest) -> [String: String] {
    let pairs = FormFields.read(request.body)
    return Dictionary(pairs) { first, _ in first }
  }
}

/// The fields of `application/x-www-form-urlencoded`.
enum FormFields {
  /// Names and values, decoded. A field with a malformed escape, or that is not UTF-8, is left out.
  static func read(_ body: [UInt8]) -> [(String, String)] {
    body.split(separator: UInt8(ascii: "&")).compactMap { field in
      let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = decode(parts[0]), let value = decode(parts.count > 1 ? parts[1] : []) else { return nil }
      return (name, value)
    }
  }

  private static func decode(_ text: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = digit(rest.popFirst()), let low = digit(rest.popFirst()) else { return nil }
        bytes.append(high << 4 | low)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func digit(_ byte: UInt8?) -> UInt8? {
    byte.flatMap { Character(UnicodeScalar($0)).hexDigitValue }.map { UInt8($0) }
  }
}
