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
    lexicon = Lexicon(vocabulary: table.vocabulary, realWords: table["realWords"])
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
  private struct Edge: Hashable {
    let node: Int
    let word: Int
  }

  /// Every word of a phrase, by its number.
  private var words: [String: Int] = [:]
  private var next: [Edge: Int] = [:]
  /// What the phrase that ends at a node means; the first node is the root.
  private var meanings: [WordMeaning?] = [nil]
  private var spelling = Spelling()

  init(vocabulary: VocabularyTable.Vocabulary, realWords: [String]) {
    for (names, phrases) in vocabulary {
      for phrase in phrases { insert(phrase, names) }
    }
    for (word, number) in words.sorted(by: { $0.key < $1.key }) where meaning(of: number)?.canBeMisspelt == true {
      spelling.insert(word)
    }
    for word in realWords { words[word] = words[word] ?? words.count }
  }

  /// The number of a listed word, or of the one that a misspelt word stands for; nil for any other.
  func number(of word: String, isExact: Bool = false) -> Int? {
    words[word] ?? (isExact ? nil : spelling.corrected(word).flatMap { words[$0] })
  }

  /// The longest phrase that begins at `start`, and its meaning.
  ///
  /// Reads at most as many tokens as the longest phrase of the language has.
  /// - Parameter words: the numbers of the word at a place, and of that without an ending that the last word may carry.
  func longestPhrase(
    from start: Int, to end: Int, in words: (Int) -> (whole: Int?, stem: Int?)
  ) -> Parsed<WordMeaning>? {
    var longest: Parsed<WordMeaning>?
    var node = 0
    for index in start..<end {
      let word = words(index)
      guard let child = word.whole.flatMap({ next[Edge(node: node, word: $0)] }) else {
        let last = index > start ? word.stem.flatMap { next[Edge(node: node, word: $0)] } : nil
        if let meaning = last.flatMap({ meanings[$0] }) { longest = Parsed(meaning, end: index + 1) }
        break
      }
      node = child
      if let meaning = meanings[node] { longest = Parsed(meaning, end: index + 1) }
    }
    return longest
  }

  func meaning(of word: Int) -> WordMeaning? { next[Edge(node: 0, word: word)].flatMap { meanings[$0] } }

  /// The tokenizer that reads texts also cuts phrases, so both are cut alike.
  private mutating func insert(_ phrase: String, _ names: [String]) {
    var node = 0
    var tokenizer = Tokenizer(phrase)
    while let token = tokenizer.next() {
      precondition(!token.text.isEmpty, "\(phrase) cannot be found in a text")
      node = child(of: node, for: token.text)
    }
    precondition(node != 0, "an empty phrase means nothing")
    meanings[node] = (meanings[node] ?? WordMeaning()).adding(names)
  }

  private mutating func child(of node: Int, for word: String) -> Int {
    let number = words[word] ?? words.count
    words[word] = number
    let edge = Edge(node: node, word: number)
    if let child = next[edge] { return child }
    meanings.append(nil)
    next[edge] = meanings.count - 1
    return meanings.count - 1
  }
}

/// Finds the word that was meant by a misspelt one: letters wrong, missing, doubled or swapped with their neighbour.
///
/// Only a word that begins with the same letter is found again. Real words beside a listed one are listed as such.
private struct Spelling: Sendable {
  /// The shortest word that is found again, and the shortest that may have two mistakes.
  private static let lengths = (one: 5, two: 9)

  private var targets: [Unicode.Scalar: [(text: String, scalars: [Unicode.Scalar])]] = [:]

  mutating func insert(_ word: String) {
    let scalars = Array(word.unicodeScalars)
    if scalars.count >= Self.lengths.one { targets[scalars[0], default: []].append((word, scalars)) }
  }

  func corrected(_ word: String) -> String? {
    let scalars = Array(word.unicodeScalars)
    guard scalars.count >= Self.lengths.one - 1, let targets = targets[scalars[0]] else { return nil }
    for edits in 1...2 {
      let target = targets.first { _, target in
        abs(target.count - scalars.count) <= edits && target.count >= (edits == 1 ? Self.lengths.one : Self.lengths.two)
          && Self.isNear(scalars, 1, target, 1, edits)
      }
      if let target { return target.text }
    }
    return nil
  }

  /// Whether what is left of both from two places on differs by at most so many edits.
  private static func isNear(
    _ word: [Unicode.Scalar], _ start: Int, _ target: [Unicode.Scalar], _ targetStart: Int, _ edits: Int
  ) -> Bool {
    var (index, place) = (start, targetStart)
    while index < word.count, place < target.count, word[index] == target[place] {
      (index, place) = (index + 1, place + 1)
    }
    let rest = (word.count - index, target.count - place)
    if edits == 0 || min(rest.0, rest.1) == 0 { return max(rest.0, rest.1) <= edits }
    if isNear(word, index + 1, target, place + 1, edits - 1) || isNear(word, index + 1, target, place, edits - 1)
      || isNear(word, index, target, place + 1, edits - 1)
    {
      return true
    }
    guard min(rest.0, rest.1) > 1, word[index] == target[place + 1], word[index + 1] == target[place] else {
      return false
    }
    return isNear(word, index + 2, target, place + 2, edits - 1)
  }
}

/// A language's table as text: meanings with their phrases, and settings.
struct VocabularyTable {
  typealias Vocabulary = [(names: [String], phrases: [String])]

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
    vocabulary.append((name.split(separator: "+").map(String.init), values + bare))
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
  fileprivate init?(_ text: String) {
    let hours = text.split(separator: "-").compactMap { Int($0) }
    guard hours.count == 2 else { return nil }
    self.init(hours: hours[0]..<hours[1])
  }
}

/// What a word or fixed phrase of a language can mean to the reader of temporal references.
///
/// A word may mean several things; its context decides. This type is the whole interface between a language's table and the
/// grammar, which knows no word of any language.
final class WordMeaning: Sendable {
  struct Values {
    var senses = WordSenses()
    /// A month of the Gregorian calendar, 1 to 12.
    var month: Int?
    /// A day of the week, 1 for Monday to 7 for Sunday.
    var weekday: Int?
    /// A day counted from the message's own: 0 is the same, 1 the next, -1 the one before.
    var dayOffset: Int?
    /// A position in a month, from 1.
    var ordinal: Int?
    var unit: CalendarUnit?
    var selector: PeriodSelector?
    var holiday: Holiday?
    var dayPart: DayPart?
    /// A part of a certain day, counted like ``dayOffset``.
    var partOfDay: (part: DayPart, offset: Int)?
    /// A clock time, in minutes from midnight: 720 is noon, 1,440 the midnight that ends the day.
    var clockMinutes: Int?
    /// The half of the day that a preceding hour belongs to.
    var meridiem: Meridiem?
    /// Minutes after, or if negative before, the hour that follows.
    var minutesPast: Int?
    /// A length of time in one phrase, in minutes.
    var duration: Int?
    var number: Int?
    /// An event, by its description; two words with one description are the same event.
    var event: String?
  }

  let values: Values

  init(_ values: Values = Values()) { self.values = values }

  /// With what a table's names say, as in `dayPart 6-12`. A name that is none traps.
  func adding(_ names: [String]) -> WordMeaning {
    var values = values
    for name in names { precondition(values.add(name), "not a meaning: \(name)") }
    return WordMeaning(values)
  }

  var canBeMisspelt: Bool {
    values.weekday != nil || values.month != nil || values.dayOffset != nil || values.event != nil
      || values.selector != nil || values.dayPart != nil || values.senses.hasAny(.cancellation, .postponement, .bound)
  }
}

extension WordMeaning.Values {
  /// Adds what a name says that is not said yet; false for a name that says nothing.
  fileprivate mutating func add(_ name: String) -> Bool {
    func set<Value>(_ field: inout Value?, _ value: Value?) -> Bool {
      field = field ?? value
      return value != nil
    }
    let words = name.split(separator: " ").map(String.init)
    let (word, numbers) = (words.dropFirst().first ?? "", words.compactMap { Int($0) })
    switch words[0] {
    case "month": return set(&month, numbers.first)
    case "weekday": return set(&weekday, numbers.first)
    case "day": return set(&dayOffset, numbers.first)
    case "ordinal": return set(&ordinal, numbers.first)
    case "clock": return set(&clockMinutes, numbers.first)
    case "minutesPast": return set(&minutesPast, numbers.first)
    case "duration": return set(&duration, numbers.first)
    case "number": return set(&number, numbers.first)
    case "event": return set(&event, words.dropFirst().joined(separator: " "))
    case "unit": return set(&unit, CalendarUnit(rawValue: word))
    case "selector": return set(&selector, PeriodSelector(rawValue: word))
    case "meridiem": return set(&meridiem, Meridiem(rawValue: word))
    case "holiday": return set(&holiday, Holiday(word, numbers))
    case "dayPart": return set(&dayPart, DayPart(word))
    case "partOfDay": return set(&partOfDay, DayPart(word).map { ($0, numbers.first ?? 0) })
    default:
      guard let sense = WordSense.named[name] else { return false }
      senses.insert(sense)
      return true
    }
  }
}

struct WordSenses {
  private var bits: UInt64 = 0

  mutating func insert(_ sense: WordSense) { bits |= 1 << UInt64(sense.rawValue) }

  mutating func formUnion(_ other: Self) { bits |= other.bits }

  func contains(_ sense: WordSense) -> Bool { bits & 1 << UInt64(sense.rawValue) != 0 }

  func hasAny(_ senses: WordSense...) -> Bool { senses.contains(where: contains) }
}

/// What a word tells about its neighbours, by its name in a language's table.
enum WordSense: Int, CaseIterable {
  static let named = Dictionary(uniqueKeysWithValues: allCases.map { ("\($0)", $0) })

  /// The word also has an unrelated meaning. It counts as a month, weekday or ordinal only if its neighbours support that.
  case ordinaryWord
  /// Has no meaning here. It is listed so that its words are not read one by one, or because it is not a noun.
  case idiom

  // Beside and between the parts of a time.
  case on, at, of, article, and, or, until, between, endOf, hourMark
  /// Between a count and a day: that much later than the day. Also the beginning of a range.
  case from
  /// Before a day that is a limit and not the day itself; at the latest then.
  case bound, by
  /// A count that is later than now or earlier: before it, before or after it, after it.
  case ahead, ago, fromNow
  /// After a count, before what is counted down to; and between the two.
  case remaining, countdown
  /// Before a count or a time: it is not exact.
  case approximately
  /// The number or weekday that follows is a name, as of a room or a film.
  case label, naming

  // What an event is.
  /// In the evening or morning when its hour leaves that open.
  case evening, early
  /// The writer's too when named after another person: *Nina's dinner*; and whoever it is for: *my friend's wedding*.
  case shared, attended
  /// It is on the day by which it must be done.
  case dueBy
  /// A thing that an event before it only describes: *exam prep*.
  case artefact

  // Whose it is.
  case writers, anothers
  /// Somebody who is not the writer, unless something is done with them, as after a companion's word.
  case person, companion
  /// A verb in the third person, so that what follows belongs to its subject.
  case othersVerb
  /// The writer as the object of what goes before: *with me*.
  case includesWriter

  // Whether it is ahead.
  case pastSense, futureSense
  /// Speaks of the past where a verb may stand: at the beginning of a clause, or after who did it.
  case pastForm
  /// Makes a word of the past that ends its statement a past tense: *habe … geschrieben*. Else it speaks of the present.
  case perfect
  /// Says how something went; before what is over and told of.
  case outcome, aftermath

  // Whether it is once.
  /// What stands near it happens again and again: *usually*.
  case habit
  /// Says when what the statement speaks of happens again and again: *on Mondays*.
  case recurrence

  // Whether it takes place, and the writer takes part.
  case cancellation
  /// The event will not take place when it was planned; a time after this word is the new one.
  case postponement
  /// A time after it replaces the one before it.
  case correction
  /// Denies the event or time directly after it; may come between the two.
  case negation, determiner
  /// The writer does not take part in the event that follows.
  case refusal
  /// Denies a verb of taking part; such a verb; what may come between the two.
  case refusing, attending, auxiliary
  /// The writer will do so all the same: *but I have to*.
  case obliged
  /// Makes its clause a wish or a possibility; makes the rest of its statement conditional.
  case hedge, condition
  /// Opens a question about whether something is the case.
  case asking
  /// What is done before it serves the event after it, and may be on another day.
  case purpose

  // What it refers to: the event mentioned last, or another of its kind.
  case pronoun, another
  /// Separates two independent statements.
  case contrast
}
