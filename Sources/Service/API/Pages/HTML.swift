internal import Cryptography
internal import FoundationEssentials
internal import HTTP1
internal import HTTPTypes
internal import Operations
internal import PushRules
internal import PushStore

/// A piece of a page. Literals of the source are markup; every interpolated value becomes text.
///
///     let cell: HTML = "<td title=\"\(reason)\">\(count)</td>"
///
/// So nothing reaches a page unescaped, and what the compiler does not know cannot be named. Attributes are always in double
/// quotes: five characters are escaped, and they are enough there and between tags, and nowhere else.
struct HTML: Equatable, Sendable, ExpressibleByStringInterpolation {
  private(set) var markup: String

  init(stringLiteral value: String) { markup = value }

  init(stringInterpolation: Interpolation) { markup = stringInterpolation.markup }

  static let none: HTML = ""

  /// An entry of a list of figures.
  static func figure(_ title: String, _ value: String, _ notes: String?...) -> HTML {
    let notes = notes.compactMap { $0 }.map { "<dd class=\"note\">\($0)</dd>" as HTML }
    return "<div><dt>\(title)</dt><dd>\(value)</dd>\(notes)</div>\n"
  }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var markup = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      markup.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: String) { markup += literal }

    mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }

    mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { markup += piece.markup }
    }

    mutating func appendInterpolation(_ text: String) {
      for character in text.unicodeScalars {
        switch character {
        case "&": markup += "&amp;"
        case "<": markup += "&lt;"
        case ">": markup += "&gt;"
        case "\"": markup += "&quot;"
        case "'": markup += "&#39;"
        default: markup.unicodeScalars.append(character)
        }
      }
    }

    mutating func appendInterpolation(_ number: Int) { markup += String(number) }
  }
}

/// A table that changes its shape where there is no room for it: its roles are named, because a browser that lays cells
/// out as blocks may no longer tell them.
struct Table {
  struct Column: ExpressibleByStringLiteral {
    let title: String
    let isNumber: Bool
    /// What the styles know it by.
    let name: String

    init(_ title: String, isNumber: Bool = false, name: String = "") {
      self.title = title
      self.isNumber = isNumber
      self.name = name
    }

    init(stringLiteral title: String) { self.init(title) }

    static func number(_ title: String) -> Column { Column(title, isNumber: true) }
  }

  /// What becomes of a row on a phone.
  enum Shape: String {
    case row
    /// A list of titles and values.
    case card
    /// Three lines without titles, placed by the names of the columns.
    case entry
  }

  /// What it shows; read out before it.
  let caption: String
  var shape = Shape.card
  let columns: [Column]
  /// What is said when there are no rows.
  let empty: String
  let rows: [[HTML]]

  var html: HTML {
    guard !rows.isEmpty else { return "<p class=\"empty\">\(empty)</p>" }
    let head = columns.map { column -> HTML in
      "<th role=\"columnheader\" scope=\"col\" class=\"\(Self.kind(column))\">\(column.title)</th>"
    }
    let body = rows.map { cells -> HTML in
      let cells = zip(columns, cells).map { column, cell -> HTML in
        "<td role=\"cell\" data-label=\"\(column.title)\" class=\"\(Self.kind(column))\">\(cell)</td>"
      }
      return "<tr role=\"row\">\(cells)</tr>\n"
    }
    return """
      <table role="table" class="\(shape.rawValue)">
      <caption class="unseen">\(caption)</caption>
      <thead role="rowgroup"><tr role="row">\(head)</tr></thead>
      <tbody role="rowgroup">
      \(body)</tbody>
      </table>
      """
  }

  private static func kind(_ column: Column) -> String {
    [column.isNumber ? "number" : "", column.name].filter { !$0.isEmpty }.joined(separator: " ")
  }
}

/// A whole page: the frame that all of them share, and what is special about one.
struct Page {
  /// Names it in the browser, before the name of the service.
  var title: String
  /// Whether it offers what needs a log-in.
  var isLoggedIn = true
  /// Seconds after which the browser loads it again; nil for never.
  var refresh: Int?
  var search = ""
  var status = HTTPResponse.Status.ok
  var body: HTML

  func response(_ more: HTTPFields = [:]) -> HTTPServerResponse {
    var fields = more
    fields[.contentType] = "text/html; charset=utf-8"
    fields[.contentSecurityPolicy] = Self.policy
    // Not no-referrer, with which browsers would also hide from us which page has sent a form. Nothing on the pages leads
    // elsewhere.
    fields[.referrerPolicy] = "same-origin"
    return HTTPServerResponse(status: status, fields: fields, body: Array(document.markup.utf8))
  }

  static func redirect(to target: String, _ more: HTTPFields = [:]) -> HTTPServerResponse {
    var fields = more
    fields[.location] = target
    return HTTPServerResponse(status: .seeOther, fields: fields)
  }

  /// The styles, which may be kept: their address changes with them.
  static func styles() -> HTTPServerResponse {
    HTTPServerResponse(
      status: .ok,
      fields: [.contentType: "text/css; charset=utf-8", .cacheControl: "public, max-age=31536000, immutable"],
      body: style)
  }

  /// Styles of ours, forms to us, and nothing else: no script, no picture, no frame around it.
  private static let policy =
    "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

  private static let style = Array(EmbeddedFiles.style_css.utf8)

  private static let styleAddress = DashboardLink.style + "?v=" + SHA256.hash(style).hexadecimal(bytes: 8)

  private var document: HTML {
    let refreshing: HTML = refresh.map { "<meta http-equiv=\"refresh\" content=\"\($0)\">" } ?? ""
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="robots" content="noindex">
      \(refreshing)
      <title>\(title) · Tacet</title>
      <link rel="stylesheet" href="\(Self.styleAddress)">
      </head>
      <body>
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
      <a class="name" href="\(DashboardLink.overview)">Tacet</a>
      \(isLoggedIn ? tools : .none)
      </header>
      <main id="main" tabindex="-1">
      \(body)
      </main>
      </body>
      </html>

      """
  }

  private var tools: HTML {
    """
    <nav class="places" aria-label="Main">
    <a href="\(DashboardLink.overview)">Overview</a>
    <a href="\(DashboardLink.engagement)">Engagement</a>
    <a href="\(DashboardLink.events)">Events</a>
    </nav>
    <form class="search" role="search" method="post" action="\(DashboardLink.search)">
    <label class="unseen" for="q">User id, message id or device token</label>
    <input id="q" name="q" type="search" value="\(search)" placeholder="User, message or device token" required
     maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false">
    <button>Search</button>
    </form>
    <form method="post" action="\(DashboardLink.logout)"><button class="plain">Log out</button></form>
    """
  }
}

extension HTTPField.Name {
  // The name is a token.
  fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
}

/// Times, numbers and reasons as people read them.
enum Wording {
  /// A duration in the unit that fits: `0.8 ms`, `12 ms`, `1.24 s`, `3 min`, `2 h 5 min`, `4 d`. Negative ones are
  /// nothing yet.
  static func duration(_ duration: Duration) -> String {
    let microseconds = max(0, duration.wholeMicroseconds)
    let seconds = microseconds / 1_000_000
    switch microseconds {
    case ..<10_000: return "\(decimal(microseconds / 100, places: 1)) ms"
    case ..<1_000_000: return "\(microseconds / 1000) ms"
    case ..<60_000_000: return "\(decimal(microseconds / 10_000, places: 2)) s"
    default: break
    }
    switch seconds {
    case ..<3600: return "\(seconds / 60) min"
    case ..<86_400: return "\(seconds / 3600) h" + rest(seconds % 3600 / 60, "min")
    default: return "\(seconds / 86_400) d" + rest(seconds % 86_400 / 3600, "h")
    }
  }

  private static func rest(_ count: Int64, _ unit: String) -> String { count == 0 ? "" : " \(count) \(unit)" }

  /// How long ago something was, or is to be: to the second, and what is less than one as a duration.
  static func age(_ age: Duration) -> String {
    (.seconds(1)..<(.seconds(60))).contains(age) ? "\(age.components.seconds) s" : duration(age)
  }

  /// A span that ends now, as the words behind `the last`.
  static func span(_ span: Duration) -> String { span == .seconds(3600) ? "hour" : duration(span) }

  /// A number with thin spaces between its thousands.
  static func number(_ number: Int) -> String {
    var text = ""
    for (place, digit) in String(number).reversed().enumerated() {
      if place > 0, place.isMultiple(of: 3), digit != "-" { text.append("\u{202F}") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  /// A count that ends at 10 001.
  static func count(_ count: Int, isAtLeast: Bool = false) -> String {
    let most = PushDatabase.overviewCountMax
    if count > most { return number(most) + "+" }
    return number(count) + (isAtLeast ? "+" : "")
  }

  /// A share, from a tenth on as a whole number; 0 of nothing.
  static func percentage(_ count: Int, of total: Int) -> String {
    let tenths = count * 1000 / max(1, total)
    return tenths >= 100 ? "\((tenths + 5) / 10) %" : "\(tenths / 10).\(tenths % 10) %"
  }

  /// A moment in UTC, with its date or without.
  static func time(_ microseconds: Int64, hasDate: Bool = true) -> HTML {
    let instant = TimeText.instant(microseconds)
    let date: HTML = hasDate ? "<span class=\"day\">\(String(instant.prefix(10)))</span> " : ""
    return "<time datetime=\"\(instant)\">\(date)\(String(instant.dropFirst(11).dropLast()))</time>"
  }

  /// A moment of today in UTC, to the second.
  static func clock(_ microseconds: Int64) -> HTML {
    let instant = TimeText.instant(microseconds)
    return "<time datetime=\"\(String(instant.prefix(19)))Z\">\(String(instant.prefix(19).suffix(8)))</time>"
  }

  /// An id, shortened to what tells it from its neighbours; the title has the whole.
  static func shortID(_ id: HostID) -> HTML {
    let id = id.text
    return "<code title=\"\(id)\">\(String(id.prefix(8)))</code>"
  }

  /// An event's kind, with a link to its pushes.
  static func event(_ kind: String, _ subject: HostID) -> HTML {
    "\(kind) <a href=\"\(DashboardLink.pushes(ofSubject: subject))\">\(shortID(subject))</a>"
  }

  /// A decision and its reason: what that means where the rules gave it, and its name in the interface.
  static func outcome(_ decision: OutcomeDecision, _ reason: String?) -> HTML {
    let mark: HTML = "<span class=\"mark \(decision.rawValue)\">\(decision.rawValue)</span>"
    return "<span class=\"outcome\">\(mark) \(self.reason(reason))</span>"
  }

  private static func reason(_ reason: String?) -> HTML {
    guard let reason else { return "" }
    if reason == ShadowedKinds.reason {
      return "<span class=\"meaning\">would have been sent</span> <code>\(reason)</code>"
    }
    guard let known = DecisionReason(rawValue: reason) else { return "<code>\(reason)</code>" }
    return "<span class=\"meaning\">\(meaning(known))</span> <code>\(reason)</code>"
  }

  private static func meaning(_ reason: DecisionReason) -> String {
    switch reason {
    case .userViewing: "is looking"
    case .alreadyRead: "has read it"
    case .noTokens: "has no device"
    case .noRecipients: "nobody else is there"
    case .optedOut: "wants none of this kind"
    case .muted: "has muted it"
    case .notMentioned: "is not mentioned"
    case .pushedToday: "had one today"
    case .quietHours: "quiet hours"
    case .deleted: "it is gone"
    case .cancelled: "was taken back"
    case .expired: "too old by then"
    case .folding: "waited for its burst"
    case .folded: "shown by a newer one"
    }
  }

  private static func decimal(_ number: Int64, places: Int) -> String {
    let unit: Int64 = places == 1 ? 10 : 100
    return "\(number / unit)." + String(number % unit + unit).dropFirst()
  }
}
