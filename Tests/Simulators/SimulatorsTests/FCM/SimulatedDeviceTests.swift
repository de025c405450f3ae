import Testing

@testable import Simulators

@Suite("Simulated Android devices")
struct SimulatedDeviceTests {
  private static func device(isOnline: Bool = true) -> SimulatedDevice {
    var device = SimulatedDevice(project: "p", lastActiveAt: 0)
    device.setOnline(isOnline, now: 0)
    return device
  }

  private static func message(_ members: String) throws -> MessageInquiry {
    try MessageInquiry(Array(#"{"message":{"token":"a:APA91b",\#(members)}}"#.utf8))
  }

  private static func data(_ key: String? = nil, ttl: Int = 60) throws -> MessageInquiry {
    let key = key.map { #","collapse_key":"\#($0)""# } ?? ""
    return try message(#""data":{"a":"b"},"android":{"ttl":"\#(ttl)s"\#(key)}"#)
  }

  private static func notification(tag: String? = nil) throws -> MessageInquiry {
    let tag = tag.map { #","android":{"notification":{"tag":"\#($0)"}}"# } ?? ""
    return try message(#""notification":{"title":"Ann"}\#(tag)"#)
  }

  @Test("an online device gets messages at once")
  func online() throws {
    var device = Self.device()
    device.receive(try Self.data(ttl: 0), name: "1", now: 5)
    #expect(device.delivered.map(\.atMilliseconds) == [5])
  }

  @Test("an offline device gets what has not expired", arguments: [(0, 0, false), (1, 999, true), (1, 1000, false)])
  func expiry(_ ttl: Int, _ milliseconds: Int64, _ isDelivered: Bool) throws {
    var device = Self.device(isOnline: false)
    device.receive(try Self.data(ttl: ttl), name: "1", now: 0)
    #expect(device.delivered.isEmpty)
    device.setOnline(true, now: milliseconds)
    #expect(device.delivered.map(\.name) == (isDelivered ? ["1"] : []))
    #expect(device.lastActiveAt == milliseconds)
  }

  @Test("the burst of 20 notifications fills again, one in 3 minutes; data has no such limit")
  func burst() throws {
    var device = Self.device()
    for number in 0..<22 { device.receive(try Self.notification(), name: "\(number)", now: 0) }
    #expect(device.delivered.suffix(3).map(\.atMilliseconds) == [0, 180_000, 360_000])
    device.receive(try Self.notification(), name: "later", now: 540_000)
    #expect(device.delivered.last?.atMilliseconds == 540_000)
    for number in 0..<50 { device.receive(try Self.data(), name: "d\(number)", now: 0) }
    #expect(device.delivered.suffix(50).allSatisfy { $0.atMilliseconds == 0 })
  }

  @Test("notifications of one tag are one on the screen, and those without a tag are one each")
  func screen() throws {
    var device = Self.device()
    for (number, tag) in ["a", "a", "b", nil, nil].enumerated() {
      device.receive(try Self.notification(tag: tag), name: "\(number)", now: 0)
    }
    device.receive(try Self.data(), name: "data", now: 0)
    #expect(device.shownCount == 4)
    #expect(device.delivered.count == 6)
  }

  @Test("notifications without a collapse key collapse with each other while the device is offline")
  func collapsible() throws {
    var device = Self.device(isOnline: false)
    device.receive(try Self.notification(), name: "1", now: 0)
    device.receive(try Self.notification(), name: "2", now: 0)
    device.setOnline(true, now: 1)
    #expect(device.delivered.map(\.name) == ["2"])
  }

  @Test("a fifth collapse key evicts one, and data without a key does not count")
  func keys() throws {
    var device = Self.device(isOnline: false)
    for (number, key) in ["a", "b", nil, "c", "d", "a", "e"].enumerated() {
      device.receive(try Self.data(key), name: "\(number)", now: 0)
    }
    #expect(device.waitingCount == 5)
    device.setOnline(true, now: 1)
    #expect(device.delivered.map(\.name) == ["2", "3", "4", "5", "6"])
  }
}
