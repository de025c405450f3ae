// swift-tools-version: 6.3

import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  // A nonisolated async function stays on its caller's reactor instead of hopping to the global executor.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func layer(_ name: String, _ dependencies: [Target.Dependency] = [], _ more: [SwiftSetting] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict + more)
}

// Release builds of what every push goes through.
// - Generic code of one module is specialized in the others: reading a column is a call of its own otherwise, with a look-up
//   of its types each time.
// - That accesses to a property do not overlap is not checked at run time, which was a twentieth of what a push costs the
//   client, and as much of what a request costs the HTTP server. An overlap would be a mistake in how callbacks nest, on one
//   thread and the same in every build; tests are debug builds and run with the checks.
let hotPath: [SwiftSetting] = [
  .unsafeFlags(
    ["-cross-module-optimization", "-enforce-exclusivity=unchecked"], .when(configuration: .release))
]

func command(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: strict)
}

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let collections: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let configuration: Target.Dependency = .product(name: "Configuration", package: "swift-configuration")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let histograms: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let jwtKit: Target.Dependency = .product(name: "JWTKit", package: "jwt-kit")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")

let package = Package(
  name: "tacet",
  // Of the library for apps; everything else is for Linux.
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [.library(name: "TacetClient", targets: ["TacetClient"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    // Settings are plain text lines; without traits no other file format is built.
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
  ],
  targets: [
    // C libraries: headers and typed inline shims.
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),

    // The loop.
    layer("Reactors", ["CLinux", collections, deque], hotPath),
    .target(name: "TestReactors", dependencies: ["Reactors"], path: "Tests/TestReactors", swiftSettings: strict),
    tests("ReactorsTests", ["Reactors", "CLinux", "TestReactors"]),

    // Drivers on the loop.
    layer("HTTP1", [httpTypes]),
    tests("HTTP1Tests", ["HTTP1", "TestRandomness", httpTypes]),
    layer("HTTPServing", ["HTTP1", "Reactors", "TLSStreams", httpTypes, logging, metrics], hotPath),
    tests(
      "HTTPServingTests",
      [
        "CLinux", "HTTPServing", "HTTP1", "PrometheusMetrics", "Reactors", "TLSStreams", "TestLogs", "TestReactors",
        httpTypes, logging, metrics,
      ]),
    layer("HTTPTransfers", ["CLibcurl", "Reactors", deque, httpTypes]),
    tests(
      "HTTPTransfersTests",
      ["HTTPServing", "HTTPTransfers", "Reactors", "TLSStreams", "TestReactors", httpTypes, logging]),
    layer("TLSStreams", ["COpenSSL", "Reactors"], hotPath),
    tests("TLSStreamsTests", ["TLSStreams", "Reactors", "TestReactors"]),
    layer("HTTP2", ["CNghttp2", "TLSStreams", "Reactors", deque], hotPath),
    tests("HTTP2Tests", ["HTTP2", "TLSStreams", "Reactors", "TestReactors"]),
    layer("Postgres", ["CLibpq", "Reactors", deque, logging], hotPath),
    .target(name: "TestProcesses", path: "Tests/TestProcesses", swiftSettings: strict),
    .target(name: "TestLogs", dependencies: [logging], path: "Tests/TestLogs", swiftSettings: strict),
    .target(name: "TestRandomness", path: "Tests/TestRandomness", swiftSettings: strict),
    .target(
      name: "TestPostgres", dependencies: ["TestProcesses"], path: "Tests/TestPostgres", swiftSettings: strict),
    tests("PostgresTests", ["Postgres", "Reactors", "TestLogs", "TestPostgres", logging, "TestReactors"]),

    // Language models, and their stand-in for tests and demos.
    layer("LanguageModels", ["HTTPTransfers", "Reactors", deque, httpTypes]),
    layer(
      "LanguageModelSimulation",
      ["HTTP1", "HTTPServing", "Reactors", "SimulationControl", deque, httpTypes, logging]),
    tests(
      "LanguageModelsTests",
      [
        "HTTP1", "HTTPServing", "LanguageModels", "LanguageModelSimulation", "Reactors", "TestLogs", httpTypes,
      ]),
    tests(
      "LanguageModelSimulationTests",
      [
        "HTTPTransfers", "LanguageModelSimulation", "Reactors", "TestLogs", "TestProcesses", "model-simulator",
        httpTypes,
      ]),

    // What is counted, as text for Prometheus.
    layer("PrometheusMetrics", [metrics]),
    tests("PrometheusMetricsTests", ["PrometheusMetrics", metrics]),

    // Rules and protocols: values in, values out.
    layer("APNSCore", [crypto], hotPath),
    tests("APNSCoreTests", ["APNSCore"]),
    layer("PushRules", [], hotPath),
    tests("PushRulesTests", ["PushRules"]),
    layer("TemporalReferences"),
    tests("TemporalReferencesTests", ["TemporalReferences"], exclude: ["Cases"]),
    layer("CampaignRules"),
    tests("CampaignRulesTests", ["CampaignRules"]),

    // The service.
    layer(
      "APNS", ["APNSCore", "HTTP2", "Reactors", "TLSStreams", deque, jwtKit, logging, metrics], hotPath),
    tests(
      "APNSTests",
      [
        "APNS", "APNSCore", "HTTP2", "PrometheusMetrics", "Reactors", "TLSStreams", crypto, logging, "TestReactors",
      ]),
    .target(
      name: "PushStore", dependencies: ["APNSCore", "Postgres", "PushRules", "Reactors", crypto, logging],
      resources: [.embedInCode("HostTables"), .embedInCode("Migrations")], swiftSettings: strict + hotPath),
    tests(
      "PushStoreTests",
      [
        "Postgres", "PushRules", "PushStore", "Reactors", "TestLogs", "TestPostgres", crypto, logging, "TestReactors",
        "TestRandomness",
      ]),
    layer(
      "PushPipeline", ["APNS", "APNSCore", "Postgres", "PushRules", "PushStore", "Reactors", deque, logging, metrics],
      hotPath),
    tests(
      "PushPipelineTests",
      [
        "APNS", "APNSCore", "Postgres", "PrometheusMetrics", "PushPipeline", "PushRules", "PushStore", "Reactors",
        "TestLogs", "TestPostgres", logging, metrics, "TestReactors", "TestRandomness",
      ]),
    layer(
      "Campaigns",
      [
        "APNSCore", "CampaignRules", "LanguageModels", "Postgres", "PushStore", "Reactors", "TemporalReferences", deque,
        logging, metrics,
      ]),
    tests(
      "CampaignsTests",
      [
        "APNSCore", "CampaignRules", "Campaigns", "Postgres", "PushStore", "Reactors", "TestLogs", "TestPostgres",
        logging,
      ]),
    layer("PushExplanations", ["APNSCore", "PushRules", "PushStore"]),
    layer(
      "ServiceDiagnosis",
      [
        "APNS", "APNSCore", "CampaignRules", "HTTP2", "HTTPTransfers", "LanguageModels", "Postgres", "PushStore",
        "Reactors",
        "ServiceSettings", "TLSStreams", httpTypes, logging,
      ]),
    tests(
      "ServiceDiagnosisTests",
      [
        "APNSCore", "LanguageModels", "Postgres", "PushStore", "Reactors", "ServiceDiagnosis", "ServiceSettings",
        "TLSStreams", crypto,
      ]),
    tests(
      "PushExplanationsTests",
      ["APNSCore", "CampaignRules", "LanguageModels", "PushExplanations", "PushRules", "PushStore", "TestRandomness"]),
    .target(
      name: "PushAPI",
      dependencies: [
        "APNSCore", "Campaigns", "HTTP1", "HTTPServing", "Postgres", "PushExplanations", "PushPipeline", "PushRules",
        "PushStore",
        "Reactors", crypto, httpTypes, logging,
      ],
      resources: [.embedInCode("openapi.yaml")], swiftSettings: strict),
    tests(
      "PushAPITests",
      [
        "APNS", "APNSCore", "Campaigns", "HTTP1", "HTTPServing", "Postgres", "PushAPI", "PushPipeline", "PushRules",
        "PushStore", "Reactors", "TestLogs", "TestPostgres", crypto, httpTypes, logging, yams,
      ]),
    layer("ClientTokens", ["HTTPTransfers", "PushAPI", "Reactors", crypto, httpTypes, jwtKit, logging]),
    tests(
      "ClientTokensTests",
      [
        "ClientTokens", "HTTP1", "HTTPServing", "HTTPTransfers", "PushAPI", "Reactors", "TestLogs", crypto,
        cryptoExtras,
        httpTypes, logging,
      ]),
    .target(
      name: "OperatorPages",
      dependencies: [
        "HTTP1", "HTTPServing", "Postgres", "PushAPI", "PushExplanations", "PushRules", "PushStore", "Reactors", crypto,
        httpTypes, logging,
      ],
      resources: [.embedInCode("style.css")], swiftSettings: strict),
    tests(
      "OperatorPagesTests",
      [
        "APNS", "APNSCore", "HTTP1", "HTTPServing", "OperatorPages", "Postgres", "PushAPI", "PushExplanations",
        "PushPipeline", "PushRules", "PushStore", "Reactors", "TestPostgres", "TestProcesses", "TestReactors",
        httpTypes, logging,
      ]),
    layer("ServiceSettings", ["APNSCore", "PushRules", "Reactors", configuration, crypto]),
    tests("ServiceSettingsTests", ["ServiceSettings", "APNSCore", "PushRules", "Reactors", crypto]),

    // What apps call the service with.
    layer("TacetClient"),
    tests("TacetClientTests", ["TacetClient"]),

    // What simulators and their commands have in common.
    layer("SimulationControl", ["HTTP1", "HTTPServing", httpTypes]),
    layer("SimulatorCommands", ["Reactors", argumentParser, logging]),

    // A local APNs for development, tests and demos.
    layer(
      "APNSSimulation",
      [
        "HTTP1", "HTTP2", "HTTPServing", "Reactors", "SimulationControl", "TLSStreams", crypto, deque, httpTypes,
        logging,
      ]),
    .target(
      name: "TestAPNSCases", dependencies: ["APNSSimulation", "TLSStreams", crypto, yams],
      path: "Tests/TestAPNSCases", resources: [.copy("Resources")], swiftSettings: strict),
    tests(
      "APNSSimulationTests",
      [
        "APNSSimulation", "HTTP2", "HTTPServing", "Reactors", "SimulationControl", "TLSStreams", "TestAPNSCases",
        crypto,
      ]),
    tests("APNSPayloadTests", ["APNSCore", "APNSSimulation", crypto]),

    // The client against the simulator: everything that can happen to connections, and one list of cases for both.
    tests(
      "APNSFaultTests",
      ["APNS", "APNSCore", "APNSSimulation", "Reactors", "TLSStreams", crypto, logging, "TestReactors"]),
    tests(
      "APNSConformanceTests",
      [
        "APNS", "APNSCore", "APNSSimulation", "HTTP2", "Reactors", "TLSStreams", "TestAPNSCases", "TestPostgres",
        crypto, logging,
      ]),

    // What measurements say, and what is made of it.
    layer("BenchReports"),
    tests("BenchReportsTests", ["BenchReports"]),

    // Commands: wiring only.
    command(
      "tacet",
      [
        "APNS", "APNSCore", "Campaigns", "ClientTokens", "HTTP1", "HTTPServing", "HTTPTransfers", "LanguageModels",
        "OperatorPages", "Postgres",
        "PrometheusMetrics", "PushAPI", "PushExplanations", "PushPipeline", "PushStore", "Reactors", "ServiceDiagnosis",
        "ServiceSettings", "TLSStreams", argumentParser, httpTypes, lifecycle, logging, metrics, signals,
      ]),
    command(
      "apns-simulator",
      ["APNSSimulation", "Reactors", "SimulatorCommands", argumentParser, logging, signals]),
    command(
      "model-simulator",
      ["LanguageModelSimulation", "Reactors", "SimulatorCommands", argumentParser, logging, signals]),
    command(
      "tacet-bench",
      [
        "APNS", "APNSCore", "BenchReports", "HTTP2", "HTTPTransfers", "Postgres", "Reactors", "TLSStreams",
        argumentParser, crypto, deque, histograms, httpTypes, logging,
      ]),

    // The shape of the sources themselves.
    tests("StructureTests"),

    // The commands as processes.
    tests(
      "TacetTests",
      [
        "APNSCore", "HTTPServing", "Postgres", "PrometheusMetrics", "PushAPI", "PushPipeline", "PushStore", "TestLogs",
        "TestPostgres", "TestProcesses", "tacet", crypto, httpTypes, logging,
      ]),
    tests(
      "TacetBenchTests",
      [
        "APNS", "APNSCore", "APNSSimulation", "BenchReports", "Reactors", "TestPostgres", "TestProcesses",
        "TestReactors", "tacet", "tacet-bench", crypto, logging,
      ]),

    // The built service as a process, against a real database and the simulator.
    tests(
      "ServiceTests",
      [
        "APNSSimulation", "LanguageModelSimulation", "Reactors", "TacetClient", "TestLogs", "TestPostgres",
        "TestProcesses", "TestRandomness", "apns-simulator", "tacet", crypto, yams,
      ]),
  ]
)
