import Testing

@testable import PushRules

@Suite("Notice preview")
struct NoticePreviewTests {
  @Test(
    "a title is cut after 100 clusters, a body after 200",
    arguments: [("a", 1), ("é", 2), ("👨‍👩‍👧", 18)])
  func clusters(_ cluster: String, _ bytes: Int) {
    for (count, bytesMax, preview) in [
      (100, NoticePreview.titleBytesMax, { NoticePreview(title: $0, body: "").title }),
      (200, NoticePreview.bodyBytesMax, { NoticePreview(title: "", body: $0).body }),
    ] as [(Int, Int, (String) -> String)] {
      let whole = String(repeating: cluster, count: min(count, bytesMax / bytes))
      #expect(preview(whole) == whole)
      #expect(preview(whole + cluster) == whole + "...")
    }
  }

  @Test("both are one line, and empty ones stay empty")
  func lines() {
    #expect(NoticePreview(title: "a\nb", body: "c\r\nd\u{0}e") == NoticePreview(title: "a b", body: "c d e"))
    #expect(NoticePreview(title: "", body: "").title == "")
    #expect(NoticePreview(title: "", body: "").body == "")
  }
}
