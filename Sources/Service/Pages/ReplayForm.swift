internal import FoundationEssentials
internal import HTTP1
internal import Replay

/// What the form of the replay asks: a span that ends now, and the rules in it. Empty fields change nothing.
struct ReplayForm: Equatable {
  /// Spans that can be chosen, in hours.
  static let spans = [1, 6, 24]

  /// Whose quiet hours count.
  enum QuietHours: String, CaseIterable {
    case own, none, daily
  }

  var hours = 1
  /// As typed, in seconds.
  var window = ""
  var timeToLive = ""
  var foldWindow = ""
  var quietHours = QuietHours.own
  var from = "22:00"
  var until = "07:00"
  var zone = "UTC"

  init() {}

  /// Nil without a form, and for choices that the form does not have.
  init?(_ head: RequestHead) {
    guard let hours = head.queryValue("hours").flatMap({ Int($0) }), Self.spans.contains(hours),
      let quiet = QuietHours(rawValue: head.queryValue("quiet") ?? "own")
    else { return nil }
    self.hours = hours
    quietHours = quiet
    window = head.queryValue("window") ?? ""
    timeToLive = head.queryValue("ttl") ?? ""
    foldWindow = head.queryValue("fold") ?? ""
    from = head.queryValue("from") ?? from
    until = head.queryValue("until") ?? until
    zone = head.queryValue("zone") ?? zone
  }

  /// The rules, read as the command reads its file.
  var rules: ReplayRules {
    get throws(ReplayRulesError) {
      var members: [String] = []
      for (name, value) in [
        ("window_seconds", window), ("message_ttl_seconds", timeToLive), ("fold_window_seconds", foldWindow),
      ] where !value.isEmpty {
        members.append("\"\(name)\":\(Int64(value) ?? -1)")
      }
      switch quietHours {
      case .own: break
      case .none: members.append("\"quiet_hours\":null")
      case .daily: members.append("\"quiet_hours\":\(document)")
      }
      return try ReplayRules(json: Array("{\(members.joined(separator: ","))}".utf8))
    }
  }

  private var document: String {
    let hours = ["from": from, "until": until, "time_zone": zone]
    guard let data = try? JSONEncoder().encode(hours) else { preconditionFailure("texts could not be encoded") }
    return String(decoding: data, as: UTF8.self)
  }

  var html: HTML {
    """
    <form class="rules" action="\(DashboardLink.replay)">
    \(select("hours", "Pushes of the last", Self.spans.map { ("\($0)", $0 == 1 ? "hour" : "\($0) hours") }, "\(hours)"))
    \(number("window", "Window, in seconds", window, max: 3600))
    \(number("ttl", "Time to live, in seconds", timeToLive, min: 1, max: 2_592_000))
    \(number("fold", "Fold bursts within, in seconds", foldWindow, max: 3600))
    \(select("quiet", "Quiet hours", Self.choices, quietHours.rawValue))
    \(field("from", "time", "from", from))
    \(field("until", "time", "until", until))
    \(field("zone", "text", "in the time zone", zone))
    <button>Decide again</button>
    </form>
    """
  }

  private static let choices = [("own", "the users' own"), ("none", "none"), ("daily", "the same for all")]

  private func select(_ name: String, _ label: String, _ choices: [(String, String)], _ chosen: String) -> HTML {
    let options = choices.map { value, text -> HTML in
      value == chosen
        ? "<option value=\"\(value)\" selected>\(text)</option>" : "<option value=\"\(value)\">\(text)</option>"
    }
    return "<label>\(label) <select name=\"\(name)\">\(options)</select></label>"
  }

  private func number(_ name: String, _ label: String, _ value: String, min: Int = 0, max: Int) -> HTML {
    """
    <label>\(label) <input name="\(name)" type="number" min="\(min)" max="\(max)" value="\(value)" placeholder="as it was"></label>
    """
  }

  private func field(_ name: String, _ type: String, _ label: String, _ value: String) -> HTML {
    "<label>\(label) <input name=\"\(name)\" type=\"\(type)\" maxlength=\"64\" value=\"\(value)\"></label>"
  }
}
