/// Which event each temporal phrase of a sentence dates.
struct EventLinks {
  /// What a pause or conjunction between a phrase and an event weighs, in words: they are seldom of one statement then.
  private static let jointWeight = 3

  private let map: SentenceMap
  private let phrases: [TemporalPhrase]
  /// For each phrase.
  private(set) var mentions: [EventMention?]

  /// Gives every event to the phrase nearest to it, and every phrase the nearest of its events; the phrases of a list
  /// share theirs.
  init(_ mentions: [EventMention], to phrases: [TemporalPhrase], in map: SentenceMap) {
    self.map = map
    self.phrases = phrases
    self.mentions = Array(repeating: nil, count: phrases.count)
    var distances = Array(repeating: Int.max, count: phrases.count)
    for mention in mentions {
      guard let (phrase, distance) = nearestPhrase(to: mention), distance < distances[phrase] else { continue }
      distances[phrase] = distance
      self.mentions[phrase] = mention
    }
    shareInLists()
  }

  private func nearestPhrase(to mention: EventMention) -> (phrase: Int, distance: Int)? {
    var nearest: (phrase: Int, distance: Int)?
    for (index, phrase) in phrases.enumerated() {
      guard map.areInOneStatement(mention.index, phrase.lexemes.lowerBound) else { continue }
      let distance = distance(from: mention.index, to: phrase.lexemes)
      if distance < nearest?.distance ?? .max { nearest = (index, distance) }
    }
    return nearest
  }

  private func distance(from index: Int, to phrase: Range<Int>) -> Int {
    let gap = index < phrase.lowerBound ? index + 1..<phrase.lowerBound : phrase.upperBound..<index
    return gap.count + (map.hasJoint(in: gap) ? Self.jointWeight : 0)
  }

  /// Both ways: *exams on Monday and Wednesday*, *on Monday and Wednesday I have exams*.
  private mutating func shareInLists() {
    for index in mentions.indices.dropFirst() where mentions[index] == nil && isListed(index) {
      mentions[index] = mentions[index - 1]
    }
    for index in mentions.indices.dropLast().reversed() where mentions[index] == nil && isListed(index + 1) {
      mentions[index] = mentions[index + 1]
    }
  }

  /// Whether a phrase continues a list with the one before it.
  private func isListed(_ index: Int) -> Bool {
    map.isList(in: phrases[index - 1].lexemes.upperBound..<phrases[index].lexemes.lowerBound)
  }
}
