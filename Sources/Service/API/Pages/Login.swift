internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes

/// The pages before the log-in.
enum LoginPage {
  /// The form.
  /// - Parameters:
  ///   - target: where to go afterwards. fault: why the last try failed, for people.
  static func form(then target: String, fault: String? = nil, status: HTTPResponse.Status = .ok) -> Page {
    let alert: HTML = fault.map { "<p id=\"fault\" class=\"fault\" role=\"alert\">\($0)</p>" } ?? ""
    let described: HTML = fault == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"fault\""
    return Page(
      title: "Log in", isLoggedIn: false, status: status,
      body: """
        <div class="narrow">
        <h1>Log in</h1>
        \(alert)
        <form class="login" method="post" action="\(DashboardLink.login)">
        <input type="hidden" name="then" value="\(target)">
        <input hidden name="username" value="tacet" autocomplete="username">
        <label for="key">Service key</label>
        <input id="key" name="key" type="password" required autocomplete="current-password" autofocus\(described)>
        <button>Log in</button>
        </form>
        <p class="note">It is the <code>SERVICE_KEY</code> of the service's settings.</p>
        </div>
        """)
  }

  /// What to do before anybody can log in.
  static var setUp: Page {
    Page(
      title: "Not set up", isLoggedIn: false, status: .notFound,
      body: """
        <div class="narrow">
        <h1>No service key is set</h1>
        <p class="lead">These pages are for whoever has the service key, and there is none.</p>
        <p>Put one into the service's settings and start it again:</p>
        <pre><code>SERVICE_KEY=$(openssl rand -hex 32)</code></pre>
        <p class="note">It is also the key of the operations for other servers.</p>
        </div>
        """)
  }

  static func problem(
    _ title: String, _ text: String, _ status: HTTPResponse.Status, isLoggedIn: Bool = false
  ) -> Page {
    Page(
      title: title, isLoggedIn: isLoggedIn, status: status,
      body: """
        <div class="narrow"><h1>\(title)</h1><p class="lead">\(text)</p>
        <p><a href="\(DashboardLink.overview)">To the overview</a></p></div>
        """)
  }
}

// Coming in and going out.
extension Dashboard {
  /// The form, or how to set a key.
  func loginForm(_ request: HTTPServerRequest) -> HTTPServerResponse {
    guard !sessions.isOff else { return LoginPage.setUp.response() }
    return LoginPage.form(then: Self.target(request.head.queryValue("then"))).response()
  }

  /// Opens a session for a service key. A peer that sends too many wrong ones has to wait, as in other calls.
  func logIn(_ request: HTTPServerRequest) -> HTTPServerResponse {
    guard !sessions.isOff else { return LoginPage.setUp.response() }
    let form = FormBody(request.body)
    let target = Self.target(form?["then"])
    guard let session = form?["key"].flatMap({ sessions.open(with: $0, now: Self.now / 1_000_000) }) else {
      if let refusal = failures.recordFailure(of: request.client) {
        return LoginPage.problem(
          "Too many attempts", "From this address came too many wrong keys. Try again in a minute.", refusal.status
        ).response(refusal.fields)
      }
      return LoginPage.form(then: target, fault: "This is not the service key.", status: .forbidden).response()
    }
    let cookie = self.cookie(session, seconds: DashboardSessions.lifeSeconds, request)
    return Page.redirect(to: target, [.setCookie: cookie])
  }

  /// Makes the browser forget its session.
  func logOut(_ request: HTTPServerRequest) -> HTTPServerResponse {
    Page.redirect(to: DashboardLink.login, [.setCookie: cookie("", seconds: 0, request)])
  }

  /// A form that no page of ours has sent.
  func refuseForm() -> HTTPServerResponse {
    LoginPage.problem(
      "Not from here", "The form was not sent by a page of this service, so nothing was done.", .forbidden
    ).response()
  }

  /// Where a log-in leads: a page of ours, by default the overview.
  static func target(_ text: String?) -> String {
    text.flatMap { DashboardLink.isPage($0) ? $0 : nil } ?? DashboardLink.overview
  }

  /// Strict: a link from elsewhere arrives without it and meets the log-in form, which is the price of never being used by
  /// others' pages. Secure whenever the browser came by TLS; over plain HTTP it would not be kept.
  private func cookie(_ session: String, seconds: Int64, _ request: HTTPServerRequest) -> String {
    "tacet_session=\(session); Path=\(DashboardLink.overview); Max-Age=\(seconds); HttpOnly; SameSite=Strict"
      + (isTLS || request.head.comesByTLS ? "; Secure" : "")
  }
}

/// Who is logged in, without a table: a session is the moment of its end, signed.
///
/// Every process with the same service keys accepts it. It is signed with a key that is derived from the service key that
/// was shown, so that it ends when that key is taken out of the settings. It cannot be ended before by itself: logging out
/// makes the browser forget it.
struct DashboardSessions: Sendable {
  /// A working day.
  static let lifeSeconds: Int64 = 8 * 3600

  private struct Key {
    let shown: BearerKeys
    let signing: HMACSHA256
  }

  private let keys: [Key]

  /// - Parameter serviceKeys: any of which lets the operator in.
  init(_ serviceKeys: [String]) {
    keys = serviceKeys.map { key in
      let derived = HKDFSHA256.derive(
        from: Array(key.utf8), info: Array("tacet dashboard session".utf8), byteCount: 32)
      return Key(shown: BearerKeys([key]), signing: HMACSHA256(key: derived))
    }
  }

  /// Whether logging in is impossible.
  var isOff: Bool { keys.isEmpty }

  /// Opens a session for a service key.
  /// - Parameter now: seconds since 1970.
  /// - Returns: what the browser is to show from now on, `<end>.<signature>`; nil for a wrong key.
  func open(with shown: String, now: Int64) -> String? {
    // Every key is looked at, so that the time does not tell which it was.
    let matching = keys.filter { $0.shown.accepts(shown) }
    guard let key = matching.first else { return nil }
    let end = String(now + Self.lifeSeconds)
    return end + "." + key.signing.code(for: Self.statement(of: end)).hexadecimal()
  }

  func accepts(_ session: String, now: Int64) -> Bool {
    let parts = session.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, let end = Int64(parts[0]), String(end) == parts[0], let signature = Self.bytes(parts[1])
    else { return false }
    let statement = Self.statement(of: String(end))
    let isSigned = keys.reduce(false) { isSigned, key in
      key.signing.isValid(signature, for: statement) || isSigned
    }
    return isSigned && end > now && end <= now + Self.lifeSeconds
  }

  private static func statement(of end: String) -> [UInt8] { Array("session until \(end)".utf8) }

  private static func bytes(_ text: Substring) -> [UInt8]? {
    let digits = text.utf8.map { "0123456789abcdef".utf8.firstOffset(of: $0) }
    guard digits.count == 64 else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[place], let low = digits[place + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}

extension String.UTF8View {
  fileprivate func firstOffset(of byte: UInt8) -> Int? {
    firstIndex(of: byte).map { distance(from: startIndex, to: $0) }
  }
}

/// The content of a form as browsers send it: `application/x-www-form-urlencoded`, a few short fields.
struct FormBody: Equatable {
  static let fieldsMax = 8

  /// The most bytes that are read: a key of a kilobyte, every character of it encoded.
  static let bytesMax = 4096

  private let fields: [String: String]

  /// Reads a form; nil when there are too many fields or bytes, or one of them is not UTF-8 or comes twice.
  ///
  /// A percent sign that encodes nothing is a percent sign, as the URL Standard has it.
  init?(_ body: [UInt8]) {
    guard body.count <= Self.bytesMax else { return nil }
    let pairs = body.split(separator: UInt8(ascii: "&"))
    guard pairs.count <= Self.fieldsMax else { return nil }
    var fields: [String: String] = [:]
    for pair in pairs {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : []),
        fields.updateValue(value, forKey: name) == nil
      else { return nil }
    }
    self.fields = fields
  }

  subscript(name: String) -> String? { fields[name] }

  private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
    PercentEncoding.decode(Array(bytes).span, plusIsSpace: true)
  }
}

/// What a browser says of itself and of the page that sent it.
extension RequestHead {
  static let sessionCookie = "tacet_session"

  /// The values of the session's cookie; more than one when a neighbour on the same host sets it too.
  var sessionCookies: [String] {
    (self[.cookie] ?? "").split(separator: ";").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingPrefix(while: { $0 == " " }) }
      return parts.count == 2 && parts[0] == Self.sessionCookie ? String(parts[1]) : nil
    }
  }

  /// Whether a form was sent by a page of ours. Browsers say so in Sec-Fetch-Site where the connection is secure, and
  /// elsewhere in Origin; a request with neither comes from no page of ours.
  var comesFromOwnPage: Bool {
    if let site = self[.secFetchSite] { return site == "same-origin" }
    guard let origin = self[.origin]?.lowercased(), let authority = authority?.lowercased() else { return false }
    return ["http://\(authority)", "https://\(authority)"].contains(origin)
  }

  /// Whether the browser reached us, or a proxy before us, by TLS.
  var comesByTLS: Bool { self[.origin]?.lowercased().hasPrefix("https://") == true }
}

extension HTTPField.Name {
  // The names are tokens.
  fileprivate static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}
