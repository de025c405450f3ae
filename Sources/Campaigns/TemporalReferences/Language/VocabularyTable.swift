/// A language's table as text: meanings with their phrases, and settings.
struct VocabularyTable {
  typealias Vocabulary = [(meaning: WordMeaning, phrases: [String])]

  private(set) var vocabulary: Vocabulary = []
  private var settings: [String: [String]] = [:]

  private static let settingNames: Set = [
    "ordinalSuffixes", "numberSuffixes", "pastEndings", "ordinalStops", "compounds", "twentyFourHours", "realWords",
    "clitics", "abbreviations",
  ]

  init(_ text: String) {
    var entry = ""
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      if line.hasPrefix(" ") {
        entry += " " + line.drop { $0 == " " }
      } else {
        add(entry)
        entry = String(line)
      }
    }
    add(entry)
  }

  subscript(setting: String) -> [String] { settings[setting] ?? [] }

  private mutating func add(_ entry: String) {
    guard let colon = entry.firstIndex(of: ":") else { return precondition(entry.isEmpty, "no meaning: \(entry)") }
    let name = String(entry[..<colon])
    let values = entry[entry.index(after: colon)...].split(separator: ",").map { String($0.drop { $0 == " " }) }
    if Self.settingNames.contains(name) { return settings[name] = values }
    // Many write contractions without their apostrophe.
    let bare = values.filter { $0.contains("n't") }.map { $0.replacing("n't", with: "nt") }
    for name in name.split(separator: "+") {
      guard let meaning = WordMeaning(String(name)) else { preconditionFailure("not a meaning: \(name)") }
      vocabulary.append((meaning, values + bare))
    }
  }
}

extension WordMeaning {
  /// A meaning by its name and values, as in `dayPart 6-12`; nil for any other text.
  fileprivate init?(_ text: String) {
    var words = text.split(separator: " ").map(String.init)
    let name = words.removeFirst()
    let numbers = words.compactMap { Int($0) }
    switch (name, numbers.count) {
    case ("month", 1): self = .month(numbers[0])
    case ("weekday", 1): self = .weekday(numbers[0])
    case ("day", 1): self = .day(offset: numbers[0])
    case ("ordinal", 1): self = .ordinal(numbers[0])
    case ("clock", 1): self = .clock(minutes: numbers[0])
    case ("minutesPast", 1): self = .minutesPast(numbers[0])
    case ("duration", 1): self = .duration(minutes: numbers[0])
    case ("number", 1): self = .number(numbers[0])
    case ("event", _): self = .event(words.joined(separator: " "))
    default:
      guard let meaning = Self.named(name, words, numbers) else { return nil }
      self = meaning
    }
  }

  private static func named(_ name: String, _ words: [String], _ numbers: [Int]) -> Self? {
    switch name {
    case "unit": words.first.flatMap(CalendarUnit.init).map { .unit($0) }
    case "selector": words.first.flatMap(PeriodSelector.init).map { .selector($0) }
    case "meridiem": words.first.flatMap(Meridiem.init).map { .meridiem($0) }
    case "holiday": words.first.flatMap { Holiday($0, numbers) }.map { .holiday($0) }
    case "dayPart": words.first.flatMap(DayPart.init).map { .dayPart($0) }
    case "partOfDay": words.first.flatMap(DayPart.init).map { .partOfDay($0, offset: numbers.first ?? 0) }
    default: words.isEmpty ? WordSense(rawValue: name).map { .sense($0) } : nil
    }
  }
}

extension Holiday {
  fileprivate init?(_ rule: String, _ numbers: [Int]) {
    switch (rule, numbers.count) {
    case ("date", 2): self = .date(month: numbers[0], day: numbers[1])
    case ("easter", 1): self = .easter(days: numbers[0])
    case ("nth", 3...4):
      self = .nth(numbers[0], weekday: numbers[1], month: numbers[2], later: numbers.count > 3 ? numbers[3] : 0)
    default: return nil
    }
  }
}

extension DayPart {
  /// Two hours with a hyphen between them.
  fileprivate init?(_ text: String) {
    let hours = text.split(separator: "-").compactMap { Int($0) }
    guard hours.count == 2 else { return nil }
    self.init(hours: hours[0]..<hours[1])
  }
}
