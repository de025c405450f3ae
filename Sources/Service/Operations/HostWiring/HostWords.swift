/// A name without case, punctuation and plural, so that `ChannelMembers`, `channel_members` and `channelmember` are equal.
struct NameKey: Equatable {
  let text: String

  init(_ name: String) { text = Self.singular(Self.plain(name)) }

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
  case messages, members, users, devices, others, memberWords, bodies, forums, conversations, senders, recipients
  case notSenders, created, kinds, memberships, memberColumns, pairs, notMembers, looks, reads, readMessages
  case firstUnread, unread, reading, readers, readFlags, wholeNames, firstNames, lastNames, names, zones
  case existing, tokens, vagueTokens, platforms, apps, environments, registered, invalid

  /// Words by list, with how much each says: where the list does not say it, the earlier the more.
  private static let lists: [Substring: [(word: String, weight: Int)]] = {
    var lists: [Substring: [(word: String, weight: Int?)]] = [:]
    for line in EmbeddedFiles.hosts_vocabulary.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: ":", maxSplits: 1)
      for entry in parts[1].matches(of: /([a-z][a-z0-9]*)(?: ([0-9]+))?/) {
        lists[parts[0], default: []].append((String(entry.1), entry.2.flatMap { Int($0) }))
      }
    }
    return lists.mapValues { words in zip(0..., words).map { ($1.word, $1.weight ?? 2 * (words.count - $0)) } }
  }()

  var weights: [(word: String, weight: Int)] { Self.lists[rawValue[...]] ?? [] }
  var all: [String] { weights.map(\.word) }
}

extension HostTable {
  /// How much its name says that it is one of these, and nothing else.
  func weight(among list: HostWords) -> Int { NameKey(name).weight(among: list) - (isAside ? 8 : 0) }

  /// The columns with these names, whatever their case and punctuation, in the order of the names.
  func columns(among list: HostWords, where fits: (HostColumn) -> Bool) -> [HostColumn] {
    let named = columns.filter(fits).map { (name: NameKey.plain($0.name), column: $0) }
    return list.all.compactMap { word in named.first { $0.name == word }?.column }
  }

  func column(among list: HostWords, where fits: (HostColumn) -> Bool) -> HostColumn? {
    columns(among: list, where: fits).first
  }

  /// The column that is called most like a reference of the list, among the likeliest of those that are called so at all.
  func reference(
    among list: HostWords, likelihood: (HostColumn) -> Int = { _ in 0 }, where fits: (HostColumn) -> Bool
  ) -> HostColumn? {
    let named = columns.filter(fits).map { (column: $0, weight: NameKey(column: $0.name).weight(among: list)) }
    return named.filter { $0.weight > 0 }
      .max { (likelihood($0.column), $0.weight) < (likelihood($1.column), $1.weight) }?.column
  }

  /// Whose a row is: by a key to users; by a name among several of these, or where there is none. Where a name and a key disagree it is
  /// not sure.
  func person(
    among list: HostWords, keyed: [HostColumn], where fits: (HostColumn) -> Bool
  ) -> (column: HostColumn, isSure: Bool)? {
    let keyed = keyed.filter(fits)
    if let both = reference(among: list, where: keyed.contains) { return (both, true) }
    let named = reference(among: list, where: fits)
    guard let key = keyed.first else { return named.map { ($0, true) } }
    return (key, named == nil && keyed.count == 1)
  }

  /// Whether its name says that it is something else.
  var isAside: Bool {
    let words = NameKey.words(of: name)
    return HostWords.others.all.contains { other in
      words.contains(other) || other.count > 4 && words.contains { $0.hasPrefix(other) || $0.hasSuffix(other) }
    }
  }
}
