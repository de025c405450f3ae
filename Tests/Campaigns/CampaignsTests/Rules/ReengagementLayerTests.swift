import Testing

@testable import Campaigns

private let threeDays = Duration.seconds(259_200)

private func outcome(_ texts: [String]?, away: Duration? = threeDays, domain: String? = "work") -> LayerOutcome {
  let conversation = texts.map { LastConversation(domain: domain, texts: $0) }
  return ReengagementLayer().outcome(for: Sample.away(away, conversation: conversation))
}

private func topic(_ texts: [String]) -> String? {
  if case .conversation(let topic) = outcome(texts).finding?.subject { topic } else { nil }
}

@Suite("The layer of coming back")
struct ReengagementLayerTests {
  @Test(
    "the user has been away for three days, exactly three included",
    arguments: [
      (Duration?.none, LayerRule?.some(.neverActive)), (.zero, .recentlyActive),
      (threeDays - .microseconds(1), .recentlyActive), (threeDays, nil), (threeDays * 50, nil),
    ])
  func inactivity(away: Duration?, missing: LayerRule?) {
    #expect(outcome(["moving house"], away: away).note?.rule == missing)
  }

  @Test("there has to be something to take up; a domain alone is not enough, and not needed")
  func topics() {
    #expect(outcome(nil).note?.rule == .noConversation)
    #expect(outcome([]).note?.rule == .noTopic)
    #expect(outcome([" ", "\n", "\u{200B}"]).note?.rule == .noTopic)
    #expect(outcome(["moving house"], domain: nil).finding?.domain == nil)
    #expect(outcome(["moving house"], domain: " ").finding?.domain == nil)
    #expect(outcome(["moving house"]).finding?.domain == "work")
  }

  @Test("the last three messages with words are told in reading order")
  func order() {
    #expect(topic(["four", "", "three", " ", "two", "one"]) == "two / three / four")
  }

  @Test("a topic has at most fifty tokens", arguments: [(49, 49), (50, 50), (51, 50), (100_000, 50)])
  func tokens(words: Int, kept: Int) {
    let text = Array(repeating: "abc", count: words).joined(separator: " ")
    #expect(topic([text])?.split(separator: " ").count == kept)
  }

  @Test(
    "a word costs a token for every three bytes",
    arguments: [("abc", 50), ("abcd", 25), ("演", 50), ("né", 50), ("née!", 25)])
  func wordCost(word: String, kept: Int) {
    let text = Array(repeating: word, count: 60).joined(separator: " ")
    #expect(topic([text])?.split(separator: " ").count == kept)
  }

  @Test("the newest message is paid first, and parting two costs a token")
  func newestFirst() {
    let newest = Array(repeating: "new", count: 48).joined(separator: " ")
    #expect(topic([newest, "old older"]) == "old / " + newest)
    #expect(topic([newest + " new", "old"]) == newest + " new")
    #expect(topic([newest + " new new", "old"]) == newest + " new new")
  }

  @Test("a single endless word is cut", arguments: [149, 150, 151, 1_000_000])
  func endlessWord(bytes: Int) {
    #expect(topic([String(repeating: "a", count: bytes)])?.utf8.count == min(bytes, 150))
  }

  @Test("no cluster is torn, and an endless one is left out")
  func clusters() {
    let family = "👨‍👩‍👧‍👦"
    #expect(
      topic([String(repeating: family, count: 10_000)]) == String(repeating: family, count: 150 / family.utf8.count))
    #expect(topic(["a" + String(repeating: "\u{301}", count: 500_000)]) == nil)
  }

  @Test(
    "without its sources the layer is passed over",
    arguments: [
      (MaterialSource.conversations, LayerRule?.some(.conversationSourceMissing)), (.messages, .messageSourceMissing),
      (.patterns, nil), (.profile, nil),
    ])
  func missing(source: MaterialSource, rule: LayerRule?) {
    let conversation = LastConversation(domain: nil, texts: ["moving house"])
    let material = Sample.away(threeDays, conversation: conversation, missing: [source])
    #expect(ReengagementLayer().outcome(for: material).note?.rule == rule)
  }
}
