import Foundation
import Testing

@Suite("Strangers", .timeLimit(.minutes(5)))
struct StrangersTests {
  @Test("nine hundred connections with a mebibyte of unfinished content each take less than 50 MB")
  func memory() async throws {
    try await ServiceScene.play { _, service in
      let port = try #require(URL(string: service.origin)?.port)
      let before = try await service.process.residentBytes
      let signed =
        "webhook-id: m\r\nwebhook-timestamp: \(Int(Date().timeIntervalSince1970))\r\nwebhook-signature: v1,\(code)\r\n"
      let heads = [
        "Content-Length: 1048576\r\n", "Authorization: Bearer wrong\r\nContent-Length: 1048576\r\n",
        signed + "Content-Length: 65536\r\n", signed + "Transfer-Encoding: chunked\r\n",
      ]
      let floods = (0..<900).compactMap { number in
        Flood(
          port,
          "POST /v1/webhooks/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            + heads[number % heads.count] + "\r\n" + (number % heads.count == 3 ? "ffff0\r\n" : ""))
      }
      #expect(floods.count == 900)
      var most = 0
      // Content that is neither read nor refused would be taken in some of these turns.
      for _ in 0..<40 {
        for flood in floods { flood.send() }
        most = max(most, try await service.process.residentBytes)
      }
      print("unfinished content of strangers: \(before / 1_000_000) MB before, \(most / 1_000_000) MB with it")
      #expect(most - before < 50_000_000)
      #expect(try await service.get("/healthz").status == 200)
      withExtendedLifetime(floods) {}
    }
  }

  private var code: String { Data(repeating: 7, count: 32).base64EncodedString() }
}

/// A connection that sends its head, and then content as long as it is taken.
private final class Flood {
  private let descriptor: Int32
  private var left = 1_048_000

  init?(_ port: Int, _ head: String) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0,
      head.utf8.count == Array(head.utf8).withUnsafeBytes({ Foundation.send(descriptor, $0.baseAddress, $0.count, 0) })
    else { return nil }
  }

  deinit { close(descriptor) }

  func send() {
    let piece = [UInt8](repeating: UInt8(ascii: " "), count: min(left, 65_000))
    let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
    left -= max(0, piece.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) })
  }
}
