/// A name without case, punctuation and plural, so that `ChannelMembers`, `channel_members` and `channelmember` are equal.
struct NameKey: Equatable {
  let text: String

  init(_ name: String) {
    let text = Self.singular(Self.plain(name))
    self.text = text.hasSuffix("model") && text.count > 5 ? String(text.dropLast(5)) : text
  }

  /// The name of a column without the ending that makes it a reference: `userid`, `user_id` and `user` are `user`.
  init(column name: String) {
    let whole = Self.plain(name)
    let ending = ["uuid", "id"].first { whole.hasSuffix($0) && whole.count > $0.count }
    text = String(whole.dropLast(ending?.count ?? 0))
  }

  /// The name without case and punctuation alone.
  static func plain(_ name: String) -> String {
    String(name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
  }

  /// The words of a name in the singular, as underscores and capitals part them.
  static func words(of name: String) -> [String] {
    name.matches(of: /[A-Z]*[a-z0-9]+|[A-Z0-9]+/).map { singular($0.output.lowercased()) }
  }

  /// The place among words: words that are the whole name come before words that end it. Nil when it ends in no word.
  func rank(among list: HostWords) -> Int? {
    let words = list.all
    if let place = words.firstIndex(of: text) { return place }
    return words.firstIndex { text.hasSuffix($0) }.map { $0 + words.count }
  }

  /// The weight of the word that it is, or one less for a word that ends it; the heaviest.
  func weight(among list: HostWords) -> Int {
    list.weights.reduce(0) { best, entry in
      max(best, text == entry.word ? entry.weight : text.hasSuffix(entry.word) ? entry.weight - 1 : 0)
    }
  }

  private static func singular(_ text: String) -> String {
    if text.hasSuffix("people") { return text.dropLast(6) + "person" }
    if text.hasSuffix("ies") { return text.dropLast(3) + "y" }
    if ["sses", "xes", "ches", "uses"].contains(where: text.hasSuffix) { return String(text.dropLast(2)) }
    if text.hasSuffix("s"), !["ss", "us", "is"].contains(where: text.hasSuffix) { return String(text.dropLast()) }
    return text
  }
}

/// A list of names in `hosts.vocabulary`.
enum HostWords: String, CaseIterable {
  case messages, vagueMessages, members, users, otherSenders, devices, others, memberWords, bodies, conversations
  case memberships, senders, recipients, notSenders, notBodies, created, kinds, memberColumns, pairs, notMembers, looks,
    reads
  case readMessages, firstUnread, unread, wishes, reading, readers, readFlags, names, wholeNames, firstNames
  case lastNames, zones, existing, tokens, vagueTokens, platforms, apps, environments, sandboxes, registered
  case invalid, forums

  /// Words by list, with how much each says.
  private static let lists: [Substring: [(word: String, weight: Int)]] = {
    var lists: [Substring: [(word: String, weight: Int)]] = [:]
    for line in EmbeddedFiles.hosts_vocabulary.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: ":", maxSplits: 1)
      for entry in parts[1].matches(of: /([a-z][a-z0-9]*)(?: ([0-9]+))?/) {
        lists[parts[0], default: []].append((String(entry.1), entry.2.flatMap { Int($0) } ?? 0))
      }
    }
    return lists
  }()

  var weights: [(word: String, weight: Int)] { Self.lists[rawValue[...]] ?? [] }
  var all: [String] { weights.map(\.word) }
}

extension HostTable {
  /// The column with the first of these names that is one, whatever its case and punctuation.
  func column(among list: HostWords, where fits: (HostColumn) -> Bool) -> HostColumn? {
    let named = columns.map { (name: NameKey.plain($0.name), column: $0) }
    for word in list.all {
      if let found = named.first(where: { $0.name == word && fits($0.column) }) { return found.column }
    }
    return nil
  }

  /// The column with the first of these names as a reference.
  func reference(among list: HostWords, where fits: (HostColumn) -> Bool) -> HostColumn? {
    let ranked = columns.filter(fits).compactMap { column in
      NameKey(column: column.name).rank(among: list).map { (rank: $0, column: column) }
    }
    return ranked.min { $0.rank < $1.rank }?.column
  }

  /// Whether its name says that it is something else.
  var isAside: Bool {
    let words = Set(NameKey.words(of: name))
    let whole = NameKey(name).text
    return HostWords.others.all.contains { other in
      words.contains(other)
        || other.count > 4 && (whole.hasSuffix(other) || words.contains { $0.hasPrefix(other) })
    }
  }
}
