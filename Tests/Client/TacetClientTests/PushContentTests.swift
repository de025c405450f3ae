import Foundation
import Synchronization
import Testing

@testable import TacetClient

@Suite("What a push carries")
struct PushContentTests {
  @Test("a message names its conversation and its row of the ledger")
  func message() {
    let id = UUID()
    let content = PushContent([
      "aps": ["alert": ["title": "Ada"]], "type": "message", "conversation_id": "c1", "message_id": "m1",
      "push_log_id": id.uuidString,
    ])
    #expect(content.type == "message" && content.conversationID == "c1" && content.messageID == "m1")
    #expect(content.pushLogID == id && content.slotIdentifier == nil && !content.announcesSchedule)
  }

  @Test("a slot's row has an identifier, also under another one on the screen")
  func slot() {
    let content = PushContent([
      "type": "workout", "slot": "0700", "fire_date": "2026-11-22", "micro_action": 4, "phase": "morning",
      "workoutType": "Run", "image_url": "https://img.example.com/a.png",
    ])
    #expect(content.slotIdentifier == "workout.0700.2026-11-22")
    #expect(content.microAction == 4 && content.phase == "morning" && content.workoutType == "Run")
    #expect(content.imageURL?.host == "img.example.com")
  }

  @Test("reads name messages, the newest first, and the badge")
  func reads() {
    let content = PushContent([
      "type": "read", "message_ids": ["b", 1, "a", ""] as [Any], "all_before": "b", "badge": 3, "conversation_id": "c",
    ])
    #expect(content.readMessageIDs == ["b", "a"] && content.allReadBefore == "b" && content.badge == 3)
    #expect(PushContent(["type": "schedule_changed"]).announcesSchedule)
  }

  private static var hostile: [[AnyHashable: Any]] {
    [
      [:], ["type": 1], ["type": ["a"]], ["type": NSNull()], ["type": "a b"], ["type": ""], [1: "message"],
      ["type": String(repeating: "a", count: 65)], ["type": "a\u{0}"],
    ]
  }

  @Test("a type of another form is absent", arguments: hostile.indices)
  func hostileType(index: Int) { #expect(PushContent(Self.hostile[index]).type == nil) }

  @Test(
    "a name has 64 bytes at most, an id 255, and neither a control character",
    arguments: [
      ("type", String(repeating: "a", count: 64), true), ("type", "a/b", false),
      ("message_id", String(repeating: "x", count: 255), true),
      ("message_id", String(repeating: "x", count: 256), false),
      ("message_id", "a/../b", true), ("message_id", "a\nb", false), ("message_id", "", false),
    ])
  func bounds(name: String, text: String, isTaken: Bool) {
    let content = PushContent([name: text])
    #expect(((content.type ?? content.messageID) == text) == isTaken)
  }

  @Test(
    "numbers are whole and not negative",
    arguments: [(0, 0), (Int(Int32.max), Int(Int32.max)), (-1, nil), (Int(Int32.max) + 1, nil), (.min, nil)]
      as [(Int, Int?)])
  func numbers(number: Int, expected: Int?) {
    #expect(PushContent(["badge": number]).badge == expected)
    #expect(PushContent(["badge": "3"]).badge == nil && PushContent(["badge": 1.5]).badge == nil)
  }

  @Test(
    "a slot's identifier has its form",
    arguments: [
      ("ritual", "0800", "2026-11-22", true), ("ritual", "2359", "2026-11-22", true),
      ("ritual", "2400", "2026-11-22", false), ("ritual", "0860", "2026-11-22", false),
      ("ritual", "080", "2026-11-22", false), ("Ritual", "0800", "2026-11-22", false),
      ("1ritual", "0800", "2026-11-22", false), ("ritual", "0800", "1026-11-22", false),
      ("ritual", "0800", "2026-1-22", false), ("ritual", "+800", "2026-11-22", false),
    ])
  func slotForm(type: String, slot: String, day: String, isSlot: Bool) {
    let content = PushContent(["type": type, "slot": slot, "fire_date": day])
    #expect((content.slotIdentifier != nil) == isSlot)
    #expect((SlotIdentifier("\(type).\(slot).\(day)") != nil) == isSlot)
  }

  @Test("too many ids of read messages are none", arguments: [(2048, 2048), (2049, 0)])
  func manyReads(count: Int, expected: Int) {
    let ids = (0..<count).map(String.init)
    #expect(PushContent(["message_ids": ids]).readMessageIDs.count == expected)
  }

  @Test(
    "an image has an https address with a host and without a user",
    arguments: [
      ("https://a.example/x.png", true), ("HTTPS://a.example/x.png", true), ("http://a.example/x.png", false),
      ("https:///x.png", false), ("file:///etc/passwd", false), ("https://u:p@a.example/x", false),
      ("https://u@a.example/x", false), ("x.png", false), ("javascript:alert(1)", false), ("https://", false),
      ("https://a.example/" + String(repeating: "x", count: 2030), true),
      ("https://a.example/" + String(repeating: "x", count: 2031), false),
    ])
  func images(address: String, isTaken: Bool) {
    #expect((PushContent(["image_url": address]).imageURL != nil) == isTaken)
  }
}

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Images of pushes")
struct NotificationServiceContentTests {
  private static let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])
  private let content = PushContent(["image_url": "https://img.example.com/a"])
  private let folder = FileManager.default.temporaryDirectory

  private func helper(
    folder: URL? = nil, sleeps: ManualSleep = ManualSleep(),
    load: @escaping @Sendable (URL) async throws -> ImageDownload.Image
  ) -> NotificationServiceContent {
    NotificationServiceContent(folder: folder ?? self.folder, load: load) { try await sleeps.sleep($0) }
  }

  @Test("an image is a file that has the extension of its kind")
  func image() async throws {
    let helper = helper { url in
      #expect(url.absoluteString == "https://img.example.com/a")
      return .init(content: Self.png, fileExtension: "png")
    }
    let file = try #require(await helper.image(of: content))
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(file.pathExtension == "png")
    #expect(try Data(contentsOf: file) == Self.png)
  }

  @Test("a push without an image loads nothing")
  func noImage() async {
    let helper = helper { _ in
      Issue.record("something was loaded")
      throw CancellationError()
    }
    #expect(await helper.image(of: PushContent(["type": "a"])) == nil)
  }

  @Test("a transfer that fails leaves the text alone")
  func failure() async {
    #expect(await helper { _ in throw URLError(.timedOut) }.image(of: content) == nil)
  }

  @Test("a transfer that takes longer than 20 seconds is ended")
  func late() async {
    let sleeps = ManualSleep()
    sleeps.open()
    let transfer = ManualSleep()
    let helper = helper(sleeps: sleeps) { _ in
      // Ends by its cancellation alone.
      try await transfer.sleep(.seconds(60))
      return .init(content: Self.png, fileExtension: "png")
    }
    #expect(await helper.image(of: content) == nil)
    #expect(sleeps.asked == [.seconds(20)])
  }

  @Test("a full disk leaves the text alone")
  func noFolder() async {
    let helper = helper(folder: URL(fileURLWithPath: "/nowhere/at/all")) { _ in
      .init(content: Self.png, fileExtension: "png")
    }
    #expect(await helper.image(of: content) == nil)
  }

  @Test(
    "an image is known by its first bytes",
    arguments: [
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "png"), ([0xFF, 0xD8, 0xFF, 0xE0], "jpg"),
      ([0x47, 0x49, 0x46, 0x38, 0x39], "gif"), ([0x3C, 0x68, 0x74, 0x6D, 0x6C], nil), ([], nil), ([0xFF, 0xD8], nil),
    ] as [([UInt8], String?)])
  func kinds(bytes: [UInt8], fileExtension: String?) throws {
    var download = ImageDownload()
    try download.append(Data(bytes))
    guard let fileExtension else {
      #expect(throws: ImageDownload.Failure.noImage) { try download.end() }
      return
    }
    #expect(try download.end() == .init(content: Data(bytes), fileExtension: fileExtension))
  }

  @Test(
    "an answer is a success of 10 MB at most",
    arguments: [
      (200, 10_000_000, nil), (200, -1, nil), (200, 10_000_001, .tooLarge), (200, .max, .tooLarge), (204, 0, .status),
      (302, 0, .status), (404, 10, .status),
    ] as [(Int, Int64, ImageDownload.Failure?)])
  func heads(status: Int, length: Int64, failure: ImageDownload.Failure?) {
    var thrown: ImageDownload.Failure?
    do { try ImageDownload().head(status: status, length: length) } catch { thrown = error }
    #expect(thrown == failure)
  }

  @Test("content ends at 10 MB, also when the server has announced less")
  func endlessContent() throws {
    var download = ImageDownload()
    for _ in 0..<10 { try download.append(Data(count: 1_000_000)) }
    #expect(throws: ImageDownload.Failure.tooLarge) { try download.append(Data(count: 1)) }
  }

  @Test(
    "a redirect leads to https alone",
    arguments: [
      ("https://b.example/x", nil), ("http://b.example/x", .insecure), ("file:///etc/passwd", .insecure),
      ("https://u:p@b.example/", .insecure), (nil, .insecure),
    ] as [(String?, ImageDownload.Failure?)])
  func redirects(address: String?, failure: ImageDownload.Failure?) {
    var download = ImageDownload()
    var thrown: ImageDownload.Failure?
    do { try download.redirect(to: address.flatMap(URL.init(string:))) } catch { thrown = error }
    #expect(thrown == failure)
  }

  @Test("the sixth redirect is refused")
  func manyRedirects() throws {
    var download = ImageDownload()
    let url = URL(string: "https://b.example/")
    for _ in 0..<5 { try download.redirect(to: url) }
    #expect(throws: ImageDownload.Failure.tooManyRedirects) { try download.redirect(to: url) }
  }

  @Test("a transfer follows these rules", arguments: ImageServer.Script.all)
  func transfer(script: ImageServer.Script) async throws {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.protocolClasses = [ImageServer.self]
    let address = try #require(URL(string: "https://img.example.com/\(script.name)"))
    guard script.isTaken else {
      await #expect(throws: (any Error).self) { try await ImageTransfer.load(address, configuration: configuration) }
      return
    }
    let image = try await ImageTransfer.load(address, configuration: configuration)
    #expect(image.fileExtension == "png" && image.content.count == script.parts.reduce(0, +))
  }

  @Test("a redirect to http is not followed")
  func insecureRedirect() throws {
    let transfer = ImageTransfer()
    let (session, url) = (URLSession(configuration: .ephemeral), URL(string: "https://a.example/")!)
    defer { session.invalidateAndCancel() }
    let response = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
    for (address, isFollowed) in [("https://b.example/", true), ("http://b.example/", false)] {
      let followed = Mutex<URL?>(nil)
      transfer.urlSession(
        session, task: session.dataTask(with: url), willPerformHTTPRedirection: response,
        newRequest: URLRequest(url: try #require(URL(string: address)))
      ) { request in followed.withLock { $0 = request?.url } }
      #expect((followed.withLock { $0 } != nil) == isFollowed)
    }
  }
}

/// Answers in the place of the network, by the name at the end of the address.
final class ImageServer: URLProtocol {
  struct Script: Sendable, CustomTestStringConvertible {
    let name: String
    var status = 200
    var parts: [Int] = []
    let isTaken: Bool
    var isImage = true
    var fails = false

    var testDescription: String { name }

    static let all = [
      Script(name: "whole", parts: [1000], isTaken: true),
      Script(name: "parts", parts: [100, 200, 300], isTaken: true),
      Script(name: "largest", parts: Array(repeating: 1_000_000, count: 10), isTaken: true),
      Script(name: "too-large", parts: Array(repeating: 1_000_000, count: 10) + [1], isTaken: false),
      Script(name: "missing", status: 404, parts: [1000], isTaken: false),
      Script(name: "page", parts: [1000], isTaken: false, isImage: false),
      Script(name: "broken", parts: [1000], isTaken: false, fails: true), Script(name: "empty", isTaken: false),
    ]
  }

  override class func canInit(with request: URLRequest) -> Bool { true }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  override func stopLoading() {}

  override func startLoading() {
    guard let url = request.url, let script = Script.all.first(where: { $0.name == url.lastPathComponent }),
      let head = HTTPURLResponse(url: url, statusCode: script.status, httpVersion: "HTTP/1.1", headerFields: [:])
    else { preconditionFailure("an unknown script") }
    client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
    let signature: [UInt8] = script.isImage ? [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] : [0x3C]
    for (index, count) in script.parts.enumerated() {
      let start = index == 0 ? Data(signature) : Data()
      client?.urlProtocol(self, didLoad: start + Data(count: count - start.count))
    }
    if script.fails {
      client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
    } else {
      client?.urlProtocolDidFinishLoading(self)
    }
  }
}
