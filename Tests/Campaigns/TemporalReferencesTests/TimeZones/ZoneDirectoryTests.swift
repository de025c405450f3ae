import Foundation
import Testing

@testable import TemporalReferences

@Suite("The zones of a folder")
final class ZoneDirectoryTests {
  /// A folder inside a temporary one, so that there is an outside.
  private let folder: URL
  private let outside: URL

  init() throws {
    outside = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID())")
    folder = outside.appending(path: "zoneinfo")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: outside)
  }

  @Test(
    "names of the database are looked up",
    arguments: [
      "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+12", "Etc/GMT-14", "GMT0", "EST5EDT", "W-SU",
      "America/North_Dakota/New_Salem", "Antarctica/DumontDUrville", "GB-Eire", "a", "0", "rights",
      "Right/UTC", "UTC/right", String(repeating: "a", count: 64),
    ])
  func accepted(name: String) throws {
    #expect(ZoneName.isWellFormed(name))
    try write(northern, to: name)
    #expect(directory().rules(of: name)?.offset(at: 0) == 7200)
  }

  @Test(
    "other names are refused before a file is looked for",
    arguments: [
      "", "/", "//", ".", "..", "../zoneinfo/UTC", "Europe/../UTC", "./UTC", "UTC/.", "UTC/..", "/UTC", "UTC/",
      "Europe//Berlin", "/usr/share/zoneinfo/UTC", "Europe/Berlin\0", "\0", "UTC\n", " UTC", "UTC ", "Europe Berlin",
      "zone.tab", "UTC.bak", ".UTC", "Europe\\Berlin", "UTC:", ":UTC", "UTC;", "~", "$HOME", "%2e%2e", "Europe/Bérlin",
      "ＵＴＣ", "UTC٠", "\u{212A}", "😀", "<+03>-3", "EST5EDT,M3.2.0,M11.1.0", "right", "right/UTC", "right/Europe/Berlin",
      String(repeating: "a", count: 65), String(repeating: "a/", count: 32) + "a", String(repeating: "é", count: 33),
    ])
  func refused(name: String) throws {
    #expect(!ZoneName.isWellFormed(name))
    try write(northern, to: "UTC")
    try write(northern, to: "right/UTC")
    #expect(directory().rules(of: name) == nil)
  }

  @Test("a text that looks like a known name is refused")
  func homograph() throws {
    try write(northern, to: "K")
    let zones = directory()
    #expect(zones.rules(of: "K") != nil && zones.rules(of: "\u{212A}") == nil)
  }

  @Test(
    "a name that is not there is unknown, also below a file",
    arguments: ["Mars", "Mars/Phobos", "UTC/Mars", "utc"])
  func unknown(name: String) throws {
    try write(northern, to: "UTC")
    #expect(directory().rules(of: name) == nil)
  }

  @Test("links are followed inside the folder and not to its outside")
  func links() throws {
    try write(northern, to: "Europe/Berlin")
    try Data(northern.bytes).write(to: outside.appending(path: "Secret"))
    try link("Berlin", to: "Europe/Berlin")
    try link("Europe/Vaduz", to: "Berlin")
    try link("America", to: folder.appending(path: "Europe").path)
    try link("Secret", to: "../Secret")
    try link("Absolute", to: outside.appending(path: "Secret").path)
    try link("Parent", to: "..")
    try link("Loop", to: "Loop")
    try link("Gone", to: "Mars")
    let zones = directory()
    #expect(["Berlin", "Europe/Vaduz", "America/Berlin", "America/Vaduz"].allSatisfy { zones.rules(of: $0) != nil })
    let refused = ["Secret", "Absolute", "Parent/Secret", "Parent/zoneinfo", "Loop", "Gone", "America"]
    #expect(refused.allSatisfy { zones.rules(of: $0) == nil })
  }

  @Test("a folder beside it with a longer name is outside")
  func sibling() throws {
    let sibling = outside.appending(path: "zoneinfo-old")
    try FileManager.default.createDirectory(at: sibling, withIntermediateDirectories: true)
    try Data(northern.bytes).write(to: sibling.appending(path: "UTC"))
    try link("UTC", to: sibling.appending(path: "UTC").path)
    #expect(directory().rules(of: "UTC") == nil)
  }

  @Test("only regular files of a usable size and content are read")
  func kinds() throws {
    try write(northern, to: "Europe/Berlin")
    #expect(mkfifo(folder.appending(path: "Fifo").path, 0o600) == 0)
    try Data().write(to: folder.appending(path: "Empty"))
    try Data("TZif2".utf8).write(to: folder.appending(path: "Short"))
    try Data("Zone Europe/Berlin".utf8).write(to: folder.appending(path: "Text"))
    var sample = northern
    sample.lies = [.leapSeconds: 27]
    try write(sample, to: "Leap")
    sample = northern
    sample.designations += [UInt8](repeating: 0, count: TZifFile.bytesMax - sample.bytes.count)
    try write(sample, to: "Largest")
    sample.designations.append(0)
    try write(sample, to: "Larger")
    try link("Null", to: "/dev/null")
    let zones = directory()
    #expect(zones.rules(of: "Europe/Berlin") != nil && zones.rules(of: "Largest") != nil)
    for name in ["Fifo", "Empty", "Short", "Text", "Leap", "Larger", "Null", "Europe"] {
      #expect(zones.rules(of: name) == nil, "\(name)")
    }
  }

  @Test("a file is read once")
  func once() throws {
    try write(northern, to: "UTC")
    let zones = directory()
    #expect(zones.rules(of: "UTC") != nil)
    try FileManager.default.removeItem(at: folder.appending(path: "UTC"))
    #expect(zones.rules(of: "UTC") != nil && directory().rules(of: "UTC") == nil)
  }

  @Test("an unknown zone is not remembered: it is found when it is there")
  func misses() throws {
    let zones = directory()
    for number in 0..<5000 { #expect(zones.rules(of: "Mars/\(number)") == nil) }
    #expect(zones.count == 0)
    try write(northern, to: "Mars/1")
    #expect(zones.rules(of: "Mars/1") != nil && zones.count == 1)
  }

  @Test("a folder with any number of names keeps a bounded number of them")
  func bound() throws {
    try write(northern, to: "UTC")
    for name in ["a", "b"] { try link(name, to: ".") }
    let zones = directory()
    for number in 0..<ZoneDirectory.zonesMax * 2 {
      let components = (0..<12).map { number >> $0 & 1 == 0 ? "a/" : "b/" }
      #expect(zones.rules(of: components.joined() + "UTC") != nil)
      #expect(zones.count == number % ZoneDirectory.zonesMax + 1)
    }
  }

  @Test("a folder that is not there has no zones")
  func noFolder() {
    #expect(ZoneDirectory(path: folder.path + "/none").rules(of: "UTC") == nil)
    #expect(ZoneDirectory(path: "").rules(of: "UTC") == nil)
  }

  @Test("the folder itself may be a link")
  func linkedFolder() throws {
    try write(northern, to: "UTC")
    let linked = outside.appending(path: "linked")
    try FileManager.default.createSymbolicLink(at: linked, withDestinationURL: folder)
    #expect(ZoneDirectory(path: linked.path + "/").rules(of: "UTC") != nil)
  }

  @Test("many threads ask at once")
  func threads() async {
    let zones = ZoneDirectory()
    let names = ["UTC", "Europe/Berlin", "Asia/Tokyo", "America/New_York", "Mars/Phobos"]
    await withTaskGroup(of: [Int?].self) { group in
      for _ in 0..<8 {
        group.addTask { (0..<200).map { zones.rules(of: names[$0 % names.count])?.offset(at: 0) } }
      }
      for await offsets in group { #expect(offsets.prefix(5) == [0, 3600, 32_400, -18_000, nil]) }
    }
    #expect(zones.count == 4)
  }

  private func directory() -> ZoneDirectory { ZoneDirectory(path: folder.path) }

  private func write(_ sample: SampleFile, to name: String) throws {
    let file = folder.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(sample.bytes).write(to: file)
  }

  private func link(_ name: String, to target: String) throws {
    let path = folder.appending(path: name).path
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }
}
