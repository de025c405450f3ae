import Foundation
import PushRules
import PushStore
import TestRepository
import Testing

@testable import API

@Suite("Markup")
struct HTMLTests {
  @Test(
    "what is put in becomes text",
    arguments: [
      ("plain", "plain"), ("<script>", "&lt;script&gt;"), ("\" onload=\"x", "&quot; onload=&quot;x"),
      ("a'b", "a&#39;b"),
      ("&amp;", "&amp;amp;"), ("", ""), ("é👨‍👩‍👧", "é👨‍👩‍👧"), ("</td", "&lt;/td"),
    ])
  func escapes(_ text: String, _ markup: String) {
    #expect(("<p title=\"\(text)\">\(text)</p>" as HTML).markup == "<p title=\"\(markup)\">\(markup)</p>")
  }

  @Test("pieces go in as they are, once")
  func pieces() {
    let item: HTML = "<li>\("<")</li>"
    #expect(("<ul>\([item, item])</ul>\(7)" as HTML).markup == "<ul><li>&lt;</li><li>&lt;</li></ul>7")
  }

  @Test("no attribute of the pages stands without quotes, and there is no script and no style in them")
  func sources() throws {
    let files = Repository.files(in: "Sources/Service/API/Pages", ending: "swift")
    #expect(files.count > 5)
    for file in files {
      let text = try String(contentsOf: file, encoding: .utf8)
      let lines = text.split(separator: "\n").filter { !$0.contains("///") && $0.contains("<") }
      #expect(
        lines.filter { $0.contains(/[a-z]=\\\((?!\w+\.)/) && !$0.contains("?") } == [], "\(file.lastPathComponent)")
      #expect(lines.filter { $0.contains(/<script|style=|\son[a-z]+=|javascript:/) } == [], "\(file.lastPathComponent)")
    }
  }

  @Test(
    "durations",
    arguments: [
      (0, "0.0 ms"), (49, "0.0 ms"), (800, "0.8 ms"), (9_999, "9.9 ms"), (10_000, "10 ms"), (999_999, "999 ms"),
      (1_000_000, "1.00 s"), (59_999_999, "59.99 s"), (60_000_000, "1 min"), (3_599_000_000, "59 min"),
      (3_600_000_000, "1 h"), (3_660_000_000, "1 h 1 min"), (86_399_000_000, "23 h 59 min"), (86_400_000_000, "1 d"),
      (97_200_000_000, "1 d 3 h"), (-5, "0.0 ms"),
    ])
  func durations(_ microseconds: Int64, _ text: String) {
    #expect(Wording.duration(.microseconds(microseconds)) == text)
  }

  @Test("numbers", arguments: [(0, "0"), (999, "999"), (1000, "1 000"), (1_234_567, "1 234 567"), (-1000, "-1 000")])
  func numbers(_ number: Int, _ text: String) {
    #expect(Wording.number(number) == text.replacing(" ", with: "\u{202F}"))
  }

  @Test("moments")
  func moments() {
    let markup = Wording.time(1_700_000_000_007_999, hasDate: false).markup
    #expect(markup == "<time datetime=\"2023-11-14T22:13:20.007Z\">22:13:20.007</time>")
  }

  @Test(
    "where a log-in may lead",
    arguments: [
      ("/dashboard", true), ("/dashboard?live=no", true), ("/dashboard/explain?subject_id=a&kind=b", true),
      ("/dashboards", false), ("//evil.example", false), ("https://evil.example/dashboard", false), ("", false),
      ("/dashboard/\r\nSet-Cookie: a=b", false), ("/dashboard\\evil", false), ("/dashboard/é", false), ("/", false),
    ])
  func targets(_ target: String, isOurs: Bool) {
    #expect(Dashboard.target(target) == (isOurs ? target : "/dashboard"))
  }

  @Test(
    "search terms",
    arguments: [
      ("0B6F9A52-53C4-4D3C-9D0C-5F2C4F3B8F11", "id"), (" 0b6f9a52-53c4-4d3c-9d0c-5f2c4f3b8f11\n", "id"),
      ("0b6f9a52", "token"), ("ABCDEF01", "token"), (String(repeating: "a1", count: 32), "token"),
      ("0b6f9a5", nil), ("0b6f9a5g", nil), ("", nil), ("hello there", nil), ("'; drop table push_log", nil),
    ] as [(String, String?)])
  func terms(_ text: String, _ kind: String?) {
    switch SearchTerm(text) {
    case .id: #expect(kind == "id")
    case .deviceToken(let beginning): #expect(kind == "token" && beginning == text.lowercased())
    case .either: Issue.record("no uuid looks like a device token")
    case nil: #expect(kind == nil)
    }
  }

  @Test("where ids are integers or text, a term may be an id, the beginning of a device token, or both")
  func termsOfOtherIDs() {
    let ids = IDTypes(messages: .uuid, conversations: .uuid, users: .bigint)
    #expect(SearchTerm(" 473 ", ids) == .id(HostID(text: "473")))
    #expect(SearchTerm("47300000", ids) == .either(HostID(text: "47300000"), "47300000"))
    #expect(SearchTerm("Ada", IDTypes(all: .bigint)) == .id(HostID(text: "Ada")))
    #expect(SearchTerm("ABCDEF01", IDTypes(all: .text)) == .either(HostID(text: "ABCDEF01"), "abcdef01"))
  }
}
