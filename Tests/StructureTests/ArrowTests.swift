import Testing

@Suite("Arrows between modules")
struct ArrowTests {
  /// From the ground up. A module may import what stands above it in this list, never what stands beside or below it.
  static let layers: [Set<String>] = [
    ["CLinux", "CLibpq", "CLibcurl", "CNghttp2", "COpenSSL"],
    ["Reactors", "HTTP1", "APNSCore", "PushRules", "PrometheusMetrics", "BenchReports", "TemporalReferences"],
    ["TLSStreams", "HTTPTransfers", "Postgres", "ServiceSettings", "SimulatorCommands", "CampaignRules"],
    ["HTTP2", "HTTPServing", "LanguageModels"],
    ["SimulationControl"],
    ["APNS", "PushStore", "APNSSimulation", "LanguageModelSimulation"],
    ["PushPipeline", "PushExplanations", "Campaigns"],
    ["PushAPI", "ServiceDiagnosis"],
    ["ClientTokens", "OperatorPages"],
    ["tacet", "apns-simulator", "model-simulator", "tacet-bench", "TacetClient"],
  ]

  /// The one module that may import each C library.
  static let owners = [
    "CLinux": "Reactors", "CLibpq": "Postgres", "CLibcurl": "HTTPTransfers", "CNghttp2": "HTTP2",
    "COpenSSL": "TLSStreams",
  ]

  /// Values in, values out.
  static let rules: Set<String> = ["APNSCore", "PushRules", "CampaignRules"]

  /// What must know time zones by their names, which only Foundation does.
  static let calendars: Set<String> = ["TemporalReferences", "Campaigns"]

  private static let level = Dictionary(
    uniqueKeysWithValues: layers.enumerated().flatMap { level, names in names.map { ($0, level) } })

  @Test("every module has its place")
  func known() {
    let unplaced = Set(SourceTree.sources.map(\.module)).subtracting(Self.level.keys)
    #expect(!SourceTree.sources.isEmpty)
    #expect(unplaced == [])
  }

  @Test("imports point down only")
  func down() {
    let violations = arrows { file, imported in
      guard let from = Self.level[file.module], let to = Self.level[imported] else { return false }
      return to >= from
    }
    #expect(violations == [])
  }

  @Test("a C library is imported by the module that owns it and by no other")
  func owned() {
    #expect(arrows { file, imported in Self.owners[imported].map { $0 != file.module } ?? false } == [])
  }

  @Test("rules import no module of ours, no C, no Foundation but its JSON and UUID")
  func pure() {
    let outside: Set<String> = ["Crypto", "FoundationEssentials"]
    #expect(arrows { file, imported in Self.rules.contains(file.module) && !outside.contains(imported) } == [])
  }

  @Test("rules look at no clock")
  func clockless() {
    let clock = /\b(ContinuousClock|SuspendingClock|Date\(|clock_gettime|Reactor\.now|DispatchTime)/
    #expect(lines(in: Self.rules) { $0.contains(clock) } == [])
  }

  @Test("no runtime module imports Foundation")
  func noFoundation() {
    let runtime = Set(Self.layers.dropLast().joined()).subtracting(["ServiceSettings"]).subtracting(Self.calendars)
    #expect(arrows { file, imported in runtime.contains(file.module) && imported == "Foundation" } == [])
  }

  @Test("the simulators know nothing of the service they stand against")
  func simulators() {
    let simulators: Set<String> = [
      "APNSSimulation", "apns-simulator", "LanguageModelSimulation", "model-simulator", "SimulationControl",
      "SimulatorCommands",
    ]
    let service: Set<String> = [
      "APNS", "LanguageModels", "Postgres", "PushRules", "PushStore", "PushPipeline", "PushAPI", "ServiceSettings",
    ]
    #expect(arrows { file, imported in simulators.contains(file.module) && service.contains(imported) } == [])
  }

  private func arrows(where isWrong: (SourceFile, String) -> Bool) -> [String] {
    SourceTree.sources.flatMap { file in
      file.imports.filter { isWrong(file, $0) }.map { "\(file.path) imports \($0)" }
    }
  }

  private func lines(in modules: Set<String>, where isWrong: (String) -> Bool) -> [String] {
    SourceTree.sources.filter { modules.contains($0.module) }.flatMap { file in
      file.code.filter(isWrong).map { "\(file.path): \($0)" }
    }
  }
}
