internal import API
internal import FoundationEssentials
internal import HTTP1
internal import HTTPServing
internal import HTTPTypes
internal import PushStore
internal import Reactors

// Finding pushes.
extension Dashboard {
  /// Registrations that a search by device token shows at the most.
  private static let ownersMax = 20

  /// Leads to what was meant. Sent as a form, because a device token must not be part of an address, which browsers and
  /// proxies keep.
  func search(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let text = FormBody(request.body)?["q"] ?? ""
    let store = services.value(on: reactor).operators
    switch SearchTerm(text) {
    case .id(let id):
      let meaning = try await store.meaning(ofID: id, on: reactor)
      if meaning.isSubject { return Page.redirect(to: DashboardLink.pushes(ofSubject: id)) }
      if meaning.isUser { return Page.redirect(to: DashboardLink.pushes(ofUser: id)) }
      return Self.nothing(
        "No push has this id as its user, its message or another subject.", id.uuidString.lowercased())
    case .deviceToken(let beginning):
      let owners = try await store.owners(ofDeviceToken: beginning, countMax: Self.ownersMax, on: reactor)
      let users = Set(owners.map(\.userID))
      if users.count == 1, let user = users.first { return Page.redirect(to: DashboardLink.pushes(ofUser: user)) }
      if !users.isEmpty { return Self.choice(owners) }
      return Self.nothing("No registered device token begins like this.", String(beginning.prefix(8)))
    case nil:
      return Self.nothing(
        "Search for a user id, a message id, or eight or more digits from the beginning of a device token.", "",
        title: "That is no id", .badRequest)
    }
  }

  /// A user's pushes, or the recipients of an event.
  func pushes(_ request: HTTPServerRequest, on reactor: isolated Reactor) async throws -> HTTPServerResponse {
    let store = services.value(on: reactor).operators
    let head = request.head
    if let user = head.id("user_id") {
      let last = head.number("time").flatMap { time in head.id("after").map { (time, $0) } }
      let page = try await store.pushes(ofUser: user, after: last, size: Self.pageRows, on: reactor)
      return PushListPage(
        title: "Pushes to", id: user, ledger: page, isUser: true, isFirst: last == nil,
        next: page.entries.last.map { DashboardLink.pushes(ofUser: user, after: $0) }
      ).page.response()
    }
    guard let subject = head.id("subject_id") else { return Self.notAnID }
    let last = head.id("after").flatMap { user in head.queryValue("kind").map { (user, $0) } }
    let page = try await store.pushes(ofSubject: subject, after: last, size: Self.pageRows, on: reactor)
    return PushListPage(
      title: "Recipients of", id: subject, ledger: page, isUser: false, isFirst: last == nil,
      next: page.entries.last.map { DashboardLink.pushes(ofSubject: subject, after: $0) }
    ).page.response()
  }

  private static func nothing(
    _ text: String, _ term: String, title: String = "Nothing found", _ status: HTTPResponse.Status = .notFound
  ) -> HTTPServerResponse {
    Page(
      title: title, search: term, status: status, body: "<h1>\(title)</h1><p class=\"lead\">\(text)</p>"
    ).response()
  }

  private static func choice(_ owners: [DeviceTokenOwner]) -> HTTPServerResponse {
    let items = owners.map { owner -> HTML in
      let user = owner.userID.uuidString.lowercased()
      return """
        <li>Device <code>\(owner.device)</code> of <a href="\(DashboardLink.pushes(ofUser: owner.userID))"><code>\(
        user)</code></a></li>
        """
    }
    return Page(
      title: "Devices", body: "<h1>Several devices begin like this</h1><ul class=\"choices\">\(items)</ul>"
    ).response()
  }
}

/// What the operator searches for.
enum SearchTerm: Equatable {
  case id(UUID)
  /// Its beginning, in lower case.
  case deviceToken(String)

  /// Digits that a beginning of a device token has at least: as many as are shown of one.
  private static let digitsMin = 8

  /// Reads what was typed; nil when it can be neither. Spaces around it, as they are copied along, do not count.
  init?(_ text: String) {
    let text = text.trimmingPrefix(while: \.isWhitespace).lowercased()
    let term = String(text.reversed().drop(while: \.isWhitespace).reversed())
    if let id = UUID(uuidString: term) {
      self = .id(id)
    } else if term.utf8.count >= Self.digitsMin,
      term.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    {
      self = .deviceToken(term)
    } else {
      return nil
    }
  }
}

extension RequestHead {
  fileprivate func id(_ name: String) -> UUID? { queryValue(name).flatMap(UUID.init(uuidString:)) }

  fileprivate func number(_ name: String) -> Int64? { queryValue(name).flatMap { Int64($0) } }
}
