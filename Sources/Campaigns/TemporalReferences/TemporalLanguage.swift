/// The words of one language that temporal references need, read from its table.
///
/// Another language is another table, such as `german.vocabulary`.
package struct TemporalLanguage: Sendable {
  /// British and American English.
  package static let english = Self(table: EmbeddedFiles.english_vocabulary)
  package static let german = Self(table: EmbeddedFiles.german_vocabulary)

  /// The language of a locale such as `de_AT`; English for one without a table.
  package static func ofLocale(_ identifier: String) -> Self {
    identifier.prefix { $0 != "_" && $0 != "-" }.lowercased() == "de" ? .german : .english
  }

  let lexicon: Lexicon
  /// Letters that turn the number directly before them into an ordinal.
  let ordinalSuffixes: Set<String>
  /// What letters directly after a number stand for: `p` for `pm`.
  let numberSuffixes: [String: String]
  /// Endings that make an unknown word a past verb where a verb may stand.
  let pastEndings: [String]
  /// Whether a full stop after a number makes it an ordinal, in the middle of a sentence too.
  let hasOrdinalStops: Bool
  /// Whether a word may be several, of which the last says what it is, as in *Matheklausur*.
  let hasCompounds: Bool
  /// Whether an hour with its minutes is on the clock of twenty-four hours.
  let hasTwentyFourHours: Bool
  /// Endings that a listed word may carry, including the apostrophe: possessives and contracted verbs.
  let clitics: [String]
  /// Words, without their full stop, after which a full stop does not end the sentence.
  let abbreviations: Set<String>

  /// A language from its table.
  ///
  /// A line is a meaning, or several with plus signs between them, and its phrases, or a setting. It goes on in indented
  /// lines; a number sign begins a comment. Words are compared in lower case, with straight apostrophes. A phrase under
  /// several meanings has all of them; the longest phrase that matches wins. A meaning that is none traps. Building the
  /// lexicon takes some milliseconds, so keep the value.
  /// - Parameter text: the lines.
  package init(table text: String) {
    let table = VocabularyTable(text)
    lexicon = Lexicon(vocabulary: table.vocabulary, realWords: Set(table["realWords"]))
    ordinalSuffixes = Set(table["ordinalSuffixes"])
    numberSuffixes = table["numberSuffixes"].reduce(into: [:]) { suffixes, pair in
      let parts = pair.split(separator: "=").map(String.init)
      suffixes[parts[0]] = parts[1]
    }
    pastEndings = table["pastEndings"]
    hasOrdinalStops = !table["ordinalStops"].isEmpty
    hasCompounds = !table["compounds"].isEmpty
    hasTwentyFourHours = !table["twentyFourHours"].isEmpty
    clitics = table["clitics"]
    abbreviations = Set(table["abbreviations"])
  }
}

/// The phrases of a language as a tree of words. One walk finds the longest phrase at a position.
struct Lexicon: Sendable {
  private struct Node {
    var next: [String: Int] = [:]
    var meanings: [WordMeaning] = []
  }

  /// The first is the root.
  private var nodes = [Node()]
  private var spelling: Spelling

  init(vocabulary: VocabularyTable.Vocabulary, realWords: Set<String>) {
    spelling = Spelling(realWords: realWords)
    for (meaning, phrases) in vocabulary {
      for phrase in phrases { insert(phrase, meaning) }
    }
  }

  /// The listed word that a misspelt one stands for; nil when it is listed itself or resembles none.
  func corrected(_ word: String) -> String? { spelling.corrected(word) }

  /// The longest phrase that begins at `start`, and its meanings.
  ///
  /// Reads at most as many tokens as the longest phrase of the language has.
  /// - Parameter stem: a token's word without an ending that the last word of a phrase may carry; nil without one.
  func longestPhrase(in tokens: [Token], from start: Int, stem: (Int) -> String?) -> Parsed<[WordMeaning]>? {
    var longest: Parsed<[WordMeaning]>?
    var node = 0
    var index = start
    while index < tokens.count {
      guard let next = nodes[node].next[tokens[index].text] else {
        let last = index > start ? stem(index).flatMap { nodes[node].next[$0] } : nil
        if let last, !nodes[last].meanings.isEmpty { longest = Parsed(nodes[last].meanings, end: index + 1) }
        break
      }
      node = next
      index += 1
      if !nodes[node].meanings.isEmpty { longest = Parsed(nodes[node].meanings, end: index) }
    }
    return longest
  }

  /// The meanings of one word; empty when it is not listed by itself.
  func meanings(of word: String) -> [WordMeaning] {
    nodes[0].next[word].map { nodes[$0].meanings } ?? []
  }

  /// The tokenizer that reads texts also cuts phrases, so both are cut alike.
  private mutating func insert(_ phrase: String, _ meaning: WordMeaning) {
    var node = 0
    var tokenizer = Tokenizer(phrase)
    while let token = tokenizer.next() {
      precondition(!token.text.isEmpty, "\(phrase) cannot be found in a text")
      node = child(of: node, for: token.text)
      spelling.insert(token.text, aloneMeaning: token.text.count == phrase.count ? meaning : nil)
    }
    precondition(node != 0, "an empty phrase means nothing")
    if !nodes[node].meanings.contains(meaning) { nodes[node].meanings.append(meaning) }
  }

  private mutating func child(of node: Int, for word: String) -> Int {
    if let child = nodes[node].next[word] { return child }
    nodes.append(Node())
    nodes[node].next[word] = nodes.count - 1
    return nodes.count - 1
  }
}

/// Finds the word that was meant by a misspelt one: one letter wrong, missing, doubled or swapped with its neighbour.
///
/// Only long words that stand for a day, a month or an event are found again, and only by a word that begins with the
/// same letter and is no listed or real word itself.
struct Spelling: Sendable {
  /// The shortest name of a day or month that is corrected. *May* and *many* are too close.
  private static let namedMin = 6
  /// The shortest word for an event. Shorter ones resemble too many others.
  private static let eventMin = 9

  private var known: Set<String>
  /// Words by their first letter.
  private var targets: [Unicode.Scalar: [[Unicode.Scalar]]] = [:]

  init(realWords: Set<String>) { known = realWords }

  /// Adds a listed word.
  /// - Parameter meaning: what the word means by itself; nil for a part of a phrase.
  mutating func insert(_ word: String, aloneMeaning meaning: WordMeaning?) {
    known.insert(word)
    guard let meaning, let first = word.unicodeScalars.first, word.count >= Self.lengthMin(meaning) else { return }
    targets[first, default: []].append(Array(word.unicodeScalars))
  }

  func corrected(_ word: String) -> String? {
    guard !known.contains(word), let first = word.unicodeScalars.first, let targets = targets[first] else { return nil }
    let scalars = Array(word.unicodeScalars)
    guard scalars.count >= Self.namedMin - 1 else { return nil }
    let target = targets.first { Self.isOneEdit(scalars, $0) }
    return target.map { String(String.UnicodeScalarView($0)) }
  }

  private static func lengthMin(_ meaning: WordMeaning) -> Int {
    switch meaning {
    case .weekday, .month, .day: namedMin
    case .event: eventMin
    default: .max
    }
  }

  /// Compares what is left between the common beginning and the common end.
  private static func isOneEdit(_ word: [Unicode.Scalar], _ target: [Unicode.Scalar]) -> Bool {
    guard abs(word.count - target.count) <= 1 else { return false }
    let most = min(word.count, target.count)
    let beginning = (0..<most).first { word[$0] != target[$0] } ?? most
    let ending = (0..<most - beginning).first { word[word.count - 1 - $0] != target[target.count - 1 - $0] }
    let rest = (
      word.dropFirst(beginning).dropLast(ending ?? most - beginning),
      target.dropFirst(beginning).dropLast(ending ?? most - beginning)
    )
    switch (rest.0.count, rest.1.count) {
    case (0...1, 0...1): return true
    case (2, 2): return rest.0.elementsEqual(rest.1.reversed())
    default: return false
    }
  }
}

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

/// What a word or fixed phrase of a language can mean to the reader of temporal references.
///
/// A word may have several meanings; its context decides. This type is the whole interface between a language's table
/// and the grammar, which knows no word of any language.
enum WordMeaning: Hashable {
  /// A month of the Gregorian calendar, 1 to 12.
  case month(Int)
  /// A day of the week, 1 for Monday to 7 for Sunday.
  case weekday(Int)
  /// A day counted from the message's own: 0 is the same, 1 the next, -1 the one before.
  case day(offset: Int)
  /// A position in a month, from 1.
  case ordinal(Int)
  case unit(CalendarUnit)
  case selector(PeriodSelector)
  case holiday(Holiday)
  case dayPart(DayPart)
  /// A part of a certain day, counted like ``day(offset:)``.
  case partOfDay(DayPart, offset: Int)
  /// A clock time, in minutes from midnight: 720 is noon, 1,440 the midnight that ends the day.
  case clock(minutes: Int)
  /// The half of the day that a preceding hour belongs to.
  case meridiem(Meridiem)
  /// Minutes after, or if negative before, the hour that follows.
  case minutesPast(Int)
  /// A length of time in one phrase, in minutes.
  case duration(minutes: Int)
  case number(Int)
  /// An event, by its description; two words with one description are the same event.
  case event(String)
  case sense(WordSense)
}

/// What a word tells about its neighbours, by its name in a language's table.
enum WordSense: String, Hashable {
  /// The word also has an unrelated meaning. It counts as a month, weekday or ordinal only if its neighbours support
  /// that.
  case ordinaryWord
  /// The end of the unit or month that follows.
  case endOf
  /// Follows an hour and marks it as a time.
  case hourMark
  /// Before a count or a time: it is not exact.
  case approximately
  /// The number that follows is a name, as of a room, and no time.
  case label
  /// Before a count: that much later.
  case ahead
  /// Before or after a count: that much earlier.
  case ago
  /// After a count: that much later.
  case fromNow
  /// Between a count and a day: that much later than the day. Also the beginning of a range.
  case from
  /// Between the two ends of a range.
  case until
  /// Before two ends that a conjunction joins.
  case between
  /// Before a day.
  case on
  /// Before a clock time.
  case at
  /// Between a day and its month.
  case of
  /// The definite article.
  case article
  /// May come between a denial and the event it denies.
  case determiner
  /// Before a day that is a bound and not the day itself.
  case bound
  /// The event is in the evening when its hour leaves that open.
  case evening
  /// The event is the writer's too when it is named after another person: *Nina's wedding*.
  case shared
  case cancellation
  /// The event will not take place when it was planned; a time after this word is the new one.
  case postponement
  /// What follows is over, and told of.
  case aftermath
  /// A time after it replaces the one before it.
  case correction
  /// What is done before it serves the event after it, and may be on another day.
  case purpose
  /// At the latest then.
  case by
  /// An event that is on the day by which it must be done.
  case dueBy
  /// Denies the event or time directly after it.
  case negation
  /// The writer does not take part in the event that follows.
  case refusal
  /// Makes its clause a wish or a mere possibility.
  case hedge
  /// Makes the rest of its statement conditional.
  case condition
  /// Says that what stands near it happens again and again: *usually*.
  case habit
  /// Says when what the statement speaks of happens again and again: *on Mondays*.
  case recurrence
  case pastSense
  /// Speaks of the past where a verb may stand: at the beginning of a clause, or after who did it.
  case pastForm
  /// Speaks of the present or the future.
  case futureSense
  /// The event or subject that follows belongs to another person.
  case anothers
  /// The event or subject that follows belongs to the writer.
  case writers
  /// A verb in the third person, so that what follows belongs to its subject.
  case othersVerb
  /// The writer as the object of what goes before: *with me*.
  case includesWriter
  /// Opens a question about whether something is the case.
  case asking
  /// Refers to another event of the kind mentioned last.
  case another
  /// Refers to the event mentioned last.
  case pronoun
  case and
  case or
  /// Separates two independent statements.
  case contrast
  /// Has no meaning here. It is listed so that its words are not read one by one, or because it is not a noun.
  case idiom
}

enum CalendarUnit: String, Hashable {
  /// 60 seconds that pass.
  case minute
  /// 60 minutes that pass.
  case hour
  /// A civil day.
  case day
  /// A civil week, from Monday to Sunday (ISO 8601).
  case week
  case fortnight
  /// The Saturday and Sunday that end a civil week.
  case weekend
  case month
  case year
}

/// The rule of a day that the calendar names.
enum Holiday: Hashable {
  case date(month: Int, day: Int)
  /// Days after the Easter Sunday of the Gregorian calendar, or before it if negative.
  case easter(days: Int)
  /// A weekday of a month by its number, 1 for Monday; -1 is the last. Days are counted on from there.
  case nth(Int, weekday: Int, month: Int, later: Int = 0)
}

/// Which of several weeks, months or weekdays is meant.
enum PeriodSelector: String, Hashable {
  /// The nearest that is not over.
  case this
  /// The first that begins after today.
  case coming
  /// In the following week, month or year.
  case next
  case afterNext
  /// The previous one.
  case last
  /// All of them, which gives no date.
  case every

  /// Units after the message's own; nil for ``every``.
  var offset: Int? {
    switch self {
    case .this: 0
    case .coming, .next: 1
    case .afterNext: 2
    case .last: -1
    case .every: nil
    }
  }
}

struct DayPart: Hashable {
  /// Its minutes from the day's midnight, within `0 ..< 1,440`; the end is exclusive.
  let minutes: Range<Int>

  /// A part between two full hours of a day; 24 is its end.
  init(hours: Range<Int>) {
    precondition(!hours.isEmpty && hours.lowerBound >= 0 && hours.upperBound <= 24, "not hours of one day")
    minutes = hours.lowerBound * 60..<hours.upperBound * 60
  }

  /// When people dine and go out.
  static let evening = DayPart(hours: 18..<22)

  /// The reading of a twelve-hour time that is in this part or closest to it, in minutes from midnight. It may be in
  /// the night that follows.
  func reading(of twelveHour: Int) -> Int {
    // One in the morning is before six, and not in the afternoon.
    if minutes.upperBound <= 720 { return twelveHour }
    return [twelveHour, twelveHour + 720, twelveHour + 1440].min { distance(to: $0) < distance(to: $1) } ?? twelveHour
  }

  /// The distance of a time from this part. The end counts as inside, so that twelve at night is midnight and not noon.
  private func distance(to time: Int) -> Int {
    max(0, minutes.lowerBound - time, time - minutes.upperBound)
  }
}

enum Meridiem: String, Hashable {
  case anteMeridiem = "am"
  case postMeridiem = "pm"
}
