import Testing

@testable import PushAPI

@Suite("The description of the interface")
struct DescriptionTests {
  /// What the server itself may answer to any request, before a handler sees it.
  private static let refusals = ["400", "405", "408", "413", "414", "429", "431", "503"]

  /// The text of each path, by the path.
  private static let paths: [String: Substring] = {
    let text = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
    let paths = text.split(separator: "\npaths:\n")[1].split(separator: "\ncomponents:\n")[0]
    return Dictionary(
      uniqueKeysWithValues: paths.split(separator: /(?:^|\n)  (?=\/)/).map { part in
        (String(part.prefix { $0 != ":" }), part)
      })
  }()

  @Test(
    "every path lists the refusals of the server",
    arguments: ["/v1/webhooks/messages", "/healthz", "/readyz", "/metrics", "/openapi.yaml"])
  func refusals(_ path: String) throws {
    let text = try #require(Self.paths[path])
    #expect(Self.refusals.filter { !text.contains("\n        '\($0)':") } == [])
  }

  @Test("no path is described without its refusals having been looked at")
  func paths() {
    #expect(Self.paths.count == 5)
  }
}
