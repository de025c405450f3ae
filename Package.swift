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

func layer(
  _ path: String, _ dependencies: [Target.Dependency] = [], _ more: [SwiftSetting] = [], exclude: [String] = [],
  plugins: [Target.PluginUsage] = []
) -> Target {
  .target(
    name: name(path), dependencies: dependencies, path: "Sources/" + path, exclude: exclude,
    swiftSettings: strict + more, plugins: plugins)
}

/// A target is named like its folder.
func name(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }

// Release builds of what every push goes through: generic code of one module is specialized in the others. Reading a column is
// a separate call otherwise, with a look-up of its types each time.
let hotPath: [SwiftSetting] = [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

// The same for what every frame to APNs goes through. That accesses to a property do not overlap is not checked there at run
// time, which is a fifteenth of what a push costs the client; elsewhere it is too little to measure. An overlap would be a mistake
// in how callbacks nest, on one thread and the same in every build; tests are debug builds and run with the checks.
let everyFrame: [SwiftSetting] =
  hotPath + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

func command(_ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(
    name: name(path), dependencies: dependencies, path: "Sources/" + path, swiftSettings: strict,
    linkerSettings: [
      // Nothing loads a program as a library: without names for that it is a megabyte smaller. Its relocations, packed, take
      // another one less, also of memory.
      .unsafeFlags(
        ["-use-ld=lld"] + ["--no-export-dynamic", "-z", "pack-relative-relocs"].flatMap { ["-Xlinker", $0] },
        .when(platforms: [.linux], configuration: .release))
    ])
}

func tests(
  _ path: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .testTarget(
    name: name(path), dependencies: dependencies, path: "Tests/" + path, exclude: exclude, resources: resources,
    swiftSettings: strict)
}

/// What several test targets share.
func support(_ path: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
  .target(
    name: name(path), dependencies: dependencies, path: "Tests/" + path, resources: resources, swiftSettings: strict)
}

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let collections: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let histograms: Target.Dependency = .product(name: "Histogram", package: "hdrhistogram-swift")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let metrics: Target.Dependency = .product(name: "CoreMetrics", package: "swift-metrics")
let signals: Target.Dependency = .product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams: Target.Dependency = .product(name: "Yams", package: "Yams")

let package = Package(
  name: "tacet",
  // Of the library for apps; everything else is for Linux.
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
  products: [.library(name: "TacetClient", targets: ["TacetClient"])],
  // Exact, because a build is to be repeatable and what SwiftPM resolves is not kept beside the sources.
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", exact: "0.2.0"),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    // Signals as a sequence, and nothing else of it is built.
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
  ],
  targets: [
    // C libraries: headers and typed inline shims.
    .systemLibrary(name: "CLinux", path: "Sources/C/CLinux"),
    .systemLibrary(
      name: "CLibcurl", path: "Sources/C/CLibcurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CLibpq", path: "Sources/C/CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
      name: "CNghttp2", path: "Sources/C/CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(
      name: "COpenSSL", path: "Sources/C/COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),

    // The loop.
    layer("Runtime/Reactors", ["CLinux", collections, deque], everyFrame),
    support("Support/TestReactors", ["Reactors"]),
    tests("Runtime/ReactorsTests", ["Reactors", "CLinux", "TestReactors"]),

    // Drivers on the loop.
    layer("Runtime/HTTP1", [httpTypes]),
    tests("Runtime/HTTP1Tests", ["HTTP1", "TestRandomness", httpTypes]),
    layer("Runtime/HTTPServing", ["HTTP1", "Reactors", "TLSStreams", httpTypes, logging, metrics], hotPath),
    tests(
      "Runtime/HTTPServingTests",
      [
        "CLinux", "HTTPServing", "HTTP1", "PrometheusMetrics", "Reactors", "TLSStreams", "TestLogs", "TestReactors",
        httpTypes, logging, metrics,
      ]),
    layer("Runtime/HTTPTransfers", ["CLibcurl", "Reactors", deque, httpTypes]),
    tests(
      "Runtime/HTTPTransfersTests",
      ["HTTP2", "HTTPServing", "HTTPTransfers", "Reactors", "TLSStreams", "TestReactors", httpTypes, logging]),
    layer("Runtime/Cryptography", ["COpenSSL"], hotPath),
    support("Support/TestKeys", ["COpenSSL", "Cryptography"]),
    tests(
      "Runtime/CryptographyTests", ["COpenSSL", "Cryptography", "TestKeys", "TestProcesses", "TestRandomness"],
      exclude: ["Resources"]),
    layer("Runtime/TLSStreams", ["COpenSSL", "Cryptography", "Reactors"], everyFrame),
    tests("Runtime/TLSStreamsTests", ["TLSStreams", "Reactors", "TestProcesses", "TestReactors"]),
    layer("Runtime/HTTP2", ["CNghttp2", "TLSStreams", "Reactors", deque], everyFrame),
    tests("Runtime/HTTP2Tests", ["HTTP2", "TLSStreams", "Reactors", "TestReactors"]),
    layer("Runtime/Postgres", ["CLibpq", "Reactors", deque, logging], hotPath),
    support("Support/TestProcesses"),
    support("Support/TestLogs", [logging]),
    support("Support/TestRandomness"),
    support("Support/TestPostgres", ["TestProcesses"]),
    support("Support/TestHosts"),
    support("Support/TestRepository"),
    tests(
      "Runtime/PostgresTests",
      ["Postgres", "Reactors", "TestLogs", "TestPostgres", "TestProcesses", logging, "TestReactors"]),

    // Language models, and their stand-in for tests and demos.
    layer("Campaigns/LanguageModels", ["HTTPTransfers", "Reactors", deque, httpTypes]),
    layer(
      "Simulators/LanguageModelSimulation",
      ["HTTP1", "HTTPServing", "Reactors", "SimulationControl", deque, httpTypes, logging]),
    tests(
      "Campaigns/LanguageModelsTests",
      [
        "HTTP1", "HTTPServing", "LanguageModels", "LanguageModelSimulation", "Reactors", "TestLogs", httpTypes,
      ]),
    tests(
      "Simulators/LanguageModelSimulationTests",
      [
        "HTTPTransfers", "LanguageModelSimulation", "Reactors", "TestLogs", "TestProcesses", "model-simulator",
        httpTypes,
      ]),

    // What is counted, as text for Prometheus.
    layer("Service/PrometheusMetrics", [metrics]),
    tests("Service/PrometheusMetricsTests", ["PrometheusMetrics", metrics]),

    // Rules and protocols: values in, values out.
    layer(
      "Push/Localisation", [], hotPath, exclude: ["plurals.vocabulary", "words.vocabulary"],
      plugins: [.plugin(name: "EmbedText")]),
    tests(
      "Push/LocalisationTests", ["Localisation", "TestRandomness", "TestRepository"], exclude: ["plural-cases.txt"]),
    layer("Push/Delivery", [], everyFrame),
    tests("Push/DeliveryTests", ["Delivery"]),
    layer("Push/APNSCore", ["Cryptography", "Delivery", "Localisation"], everyFrame),
    tests("Push/APNSCoreTests", ["APNSCore", "Delivery"]),
    layer("Push/PushRules", ["Localisation"], hotPath),
    layer("Push/Sealing", ["Cryptography"]),
    layer(
      "Push/PushKinds", ["APNSCore", "Cryptography", "Delivery", "Localisation", "PushRules", "Sealing"], hotPath),
    layer("Push/Deliverers", ["APNSCore", "Delivery", "PushKinds", "Reactors"], hotPath),
    support(
      "Support/TestIDs",
      ["Postgres", "PushKinds", "PushStore", "TestPostgres", "TestReactors", "TestRepository", logging]),
    tests(
      "Push/PushKindsTests",
      ["APNSCore", "Cryptography", "Delivery", "Localisation", "PushKinds", "PushRules", "Sealing"]),
    tests(
      "Push/SealingTests",
      [
        "APNSCore", "Cryptography", "Delivery", "Localisation", "PushKinds", "PushRules", "Sealing", "TestProcesses",
        "TestRandomness", "TestRepository",
      ],
      exclude: ["open_sealed.py"]),
    tests("Push/PushRulesTests", ["PushRules"]),
    layer("Campaigns/CampaignRules", ["Localisation"]),
    tests("Campaigns/CampaignRulesTests", ["CampaignRules", "Localisation"], exclude: ["Slots/Definitions"]),
    layer("Campaigns/TimeZones"),
    tests("Campaigns/TimeZonesTests", ["TestPostgres", "TestProcesses", "TestRandomness", "TimeZones"]),
    layer(
      "Campaigns/TemporalReferences", ["CampaignRules", "TimeZones"],
      exclude: ["english.vocabulary", "german.vocabulary"], plugins: [.plugin(name: "EmbedText")]),
    tests(
      "Campaigns/TemporalReferencesTests", ["CampaignRules", "TemporalReferences", "TestRandomness", "TimeZones"],
      exclude: ["Cases"]),

    // The service.
    layer(
      "Push/APNS",
      [
        "APNSCore", "Cryptography", "Deliverers", "Delivery", "HTTP2", "PushKinds", "Reactors", "TLSStreams", deque,
        logging,
        metrics,
      ], everyFrame),
    tests(
      "Push/APNSTests",
      [
        "APNS", "APNSCore", "Deliverers", "Delivery", "HTTP2", "PrometheusMetrics", "PushKinds", "Reactors",
        "TLSStreams",
        "Cryptography", logging, "TestKeys", "TestReactors",
      ]),
    layer(
      "Push/WebPush",
      [
        "APNSCore", "Cryptography", "Deliverers", "Delivery", "HTTPTransfers", "Localisation", "PushKinds", "Reactors",
        httpTypes,
      ]),
    tests(
      "Push/WebPushTests",
      [
        "APNSCore", "Cryptography", "Deliverers", "Delivery", "HTTPTransfers", "PushKinds", "Reactors", "TestKeys",
        "TestProcesses", "TestRandomness", "TestReactors", "TestRepository", "WebPush", httpTypes,
      ], exclude: ["decrypt_pushes.py"], resources: [.copy("Resources")]),
    layer(
      "Push/FCM",
      [
        "APNSCore", "Cryptography", "Deliverers", "Delivery", "HTTPTransfers", "Localisation", "PushKinds", "Reactors",
        httpTypes,
      ]),
    layer(
      "Push/PushStore",
      ["APNSCore", "Delivery", "Localisation", "Postgres", "PushKinds", "PushRules", "Reactors", logging], hotPath,
      plugins: [.plugin(name: "EmbedSQL")]),
    .plugin(
      name: "EmbedSQL", capability: .buildTool(), dependencies: ["embed-files"], path: "Sources/Build/EmbedSQL"),
    .plugin(
      name: "EmbedText", capability: .buildTool(), dependencies: ["embed-files"], path: "Sources/Build/EmbedText"),
    command("Build/embed-files"),
    tests("Build/EmbedFilesTests", ["embed-files"]),
    tests(
      "Push/PushStoreTests",
      [
        "Localisation", "PushKinds", "TestIDs",
        "TestRepository", "Postgres", "PushRules", "PushStore", "Reactors", "TestHosts", "TestLogs", "TestPostgres",
        "Cryptography", logging,
        "TestReactors",
        "TestRandomness",
      ]),
    layer(
      "Push/PushPipeline",
      [
        "APNSCore", "Deliverers", "Delivery", "Localisation", "Postgres", "PushKinds", "PushRules", "PushStore",
        "Reactors", deque,
        logging,
        metrics,
      ], hotPath),
    tests(
      "Push/PushPipelineTests",
      [
        "Localisation", "PushKinds", "TestIDs",
        "TestRepository", "APNS", "APNSCore", "Deliverers", "Delivery", "Postgres", "PrometheusMetrics", "PushPipeline",
        "PushRules", "PushStore", "Reactors",
        "TestLogs", "TestPostgres", logging, metrics, "TestReactors", "TestRandomness",
      ]),
    layer(
      "Campaigns/Campaigns",
      [
        "APNSCore", "CampaignRules", "Cryptography", "HTTPTransfers", "LanguageModels", "Localisation", "Postgres",
        "PushKinds", "PushStore", "Reactors", "TemporalReferences", "TimeZones", deque, httpTypes, logging, metrics,
      ]),
    tests(
      "Campaigns/CampaignsTests",
      [
        "PushKinds", "TestIDs",
        "TestRepository", "APNSCore", "CampaignRules", "Campaigns", "HTTP1", "HTTPServing", "Postgres",
        "PrometheusMetrics", "PushStore", "Reactors", "TestLogs", "TestPostgres", httpTypes, logging,
      ]),
    layer("Service/Explanations", ["APNSCore", "PushKinds", "PushRules", "PushStore"]),
    layer(
      "Service/Doctor",
      [
        "APNS", "APNSCore", "CampaignRules", "Cryptography", "Delivery", "FCM", "HostEvents", "WebPush", "HTTP2",
        "HTTPTransfers", "LanguageModels", "Postgres", "PushKinds",
        "PushRules", "PushStore",
        "Reactors", "Settings", "TimeZones", "TLSStreams", httpTypes, logging,
      ]),
    tests(
      "Service/DoctorTests",
      [
        "APNSCore", "Delivery", "LanguageModels", "Postgres", "PushKinds", "PushStore", "Reactors", "Doctor",
        "Settings",
        "TimeZones", "TLSStreams", "Cryptography",
      ]),
    tests(
      "Service/ExplanationsTests",
      [
        "Delivery",
        "PushKinds", "TestIDs",
        "TestRepository", "APNSCore", "CampaignRules", "LanguageModels", "Explanations", "PushRules", "PushStore",
        "TestRandomness",
      ]),
    layer(
      "Service/Callers",
      ["HTTP1", "HTTPServing", "HTTPTransfers", "Reactors", "Cryptography", httpTypes, logging]),
    tests(
      "Service/CallersTests",
      [
        "API", "Callers", "Cryptography", "HTTP1", "HTTPServing", "HTTPTransfers", "PushKinds", "Reactors", "TestKeys",
        "TestLogs", "TestProcesses", "TestReactors", "TestRepository", httpTypes, logging,
      ]),
    layer(
      "Service/HostEvents",
      [
        "Callers", "Delivery", "Explanations", "HTTPTransfers", "Postgres", "PushKinds", "PushStore", "Reactors",
        "Settings",
        httpTypes,
        logging, metrics,
      ]),
    support("Support/TestReceivers", ["Callers", "HTTP1", "HTTPServing", "Reactors", httpTypes, logging]),
    tests(
      "Service/HostEventsTests",
      [
        "Callers", "HTTPTransfers", "HostEvents", "Postgres", "PushKinds", "PushStore", "Reactors", "TestIDs",
        "TestLogs", "TestPostgres", "TestReceivers", httpTypes, logging,
      ]),
    // What browsers load from the service.
    layer(
      "Service/BrowserClient",
      exclude: [
        "README.md", "package.json", "tacet-adapters.js", "tacet-calls.js", "tacet-presence.js", "tacet-schedule.js",
        "tacet-support.js", "tacet-sw.js", "tacet-telemetry.js", "tacet-timing.js", "tacet-web-push.js",
        "tacet-window.js",
        "tacet.d.ts", "tacet.js",
      ], plugins: [.plugin(name: "EmbedText")]),
    tests(
      "Service/BrowserClientTests", ["BrowserClient", "TestProcesses", "TestRepository"],
      exclude: [
        "adapter-scene.mjs", "browser-scene.mjs", "calls.test.mjs", "capacitor.test.mjs", "declarations.test.mjs",
        "electron.test.mjs", "keeper.test.mjs", "presence.test.mjs", "sample.mts", "schedule-cases.test.mjs",
        "support.mjs", "telemetry-cases.test.mjs", "web-push.test.mjs", "window.test.mjs", "worker-click.test.mjs",
        "worker-hostile.test.mjs", "worker-push.test.mjs", "worker-reports.test.mjs", "worker-scene.mjs",
      ]),
    layer(
      "Service/API",
      [
        "APNSCore", "BrowserClient", "Deliverers", "Delivery", "FCM", "WebPush", "Callers", "CampaignRules",
        "Campaigns", "HTTP1",
        "HTTPServing", "Postgres", "Explanations",
        "PushKinds", "PushPipeline",
        "Sealing", "PushRules", "PushStore", "Reactors", "Cryptography", "TimeZones", httpTypes, logging,
      ], exclude: ["openapi.yaml"], plugins: [.plugin(name: "EmbedText")]),
    tests(
      "Service/APITests",
      [
        "Delivery", "WebPush",
        "PushKinds", "TestIDs",
        "TestRepository", "API", "APNS", "APNSCore", "Callers", "Campaigns", "Explanations", "HTTP1", "HTTPServing",
        "Postgres", "PushPipeline", "PushRules", "PushStore", "Reactors", "TestLogs", "TestPostgres", "TestProcesses",
        "Cryptography",
        httpTypes,
        logging,
        yams,
      ]),
    layer(
      "Service/Pages",
      [
        "API", "Callers", "Explanations", "HTTP1", "HTTPServing", "Postgres", "PushRules", "PushStore", "Reactors",
        "Cryptography", httpTypes, logging,
      ], exclude: ["style.css"], plugins: [.plugin(name: "EmbedText")]),
    tests(
      "Service/PagesTests",
      [
        "Delivery",
        "PushKinds", "TestIDs",
        "TestRepository", "APNS", "APNSCore", "HTTP1", "HTTPServing", "Pages", "Postgres", "API", "Explanations",
        "PushPipeline", "PushRules", "PushStore", "Reactors", "TestPostgres", "TestProcesses", "TestReactors",
        httpTypes, logging,
      ]),
    layer("Service/HostWiring", ["Postgres"]),
    tests(
      "Service/HostWiringTests",
      ["HostWiring", "Postgres", "PushStore", "Reactors", "TestHosts", "TestPostgres", "TestReactors", logging]),
    layer(
      "Service/Settings",
      ["APNSCore", "Cryptography", "FCM", "Postgres", "PushKinds", "PushRules", "Reactors", "WebPush"]),
    tests(
      "Service/SettingsTests",
      ["APNSCore", "Cryptography", "FCM", "PushKinds", "PushRules", "Reactors", "Settings", "TestKeys", "WebPush"]),

    // What apps call the service with.
    layer("Client/TacetClient"),
    tests(
      "Client/TacetClientTests",
      [
        "APNSCore", "Cryptography", "Delivery", "Localisation", "PushKinds", "PushRules", "TacetClient",
        "TestRandomness",
      ],
      resources: [.copy("Cases")]),

    // What simulators and their commands have in common.
    layer("Simulators/SimulationControl", ["HTTP1", "HTTPServing", "Reactors", httpTypes]),
    layer("Simulators/SimulatorCommands", ["Reactors", argumentParser, logging, signals]),

    // A local APNs for development, tests and demos.
    layer(
      "Simulators/APNSSimulation",
      [
        "HTTP1", "HTTP2", "HTTPServing", "Reactors", "SimulationControl", "TLSStreams", "Cryptography", deque,
        httpTypes,
        logging,
      ]),
    support(
      "Support/TestAPNSCases", ["APNSSimulation", "TLSStreams", "Cryptography", yams], resources: [.copy("Resources")]),
    tests(
      "Simulators/APNSSimulationTests",
      [
        "APNSSimulation", "HTTP2", "HTTPServing", "Reactors", "SimulationControl", "TLSStreams", "TestAPNSCases",
        "TestKeys", "Cryptography",
      ]),
    tests("Simulators/APNSPayloadTests", ["APNSCore", "APNSSimulation", "Cryptography"]),

    // A local Firebase Cloud Messaging.
    layer(
      "Simulators/FCMSimulation",
      ["Cryptography", "HTTP1", "HTTPServing", "Reactors", "SimulationControl", deque, httpTypes, logging]),
    command(
      "Commands/fcm-simulator",
      ["FCMSimulation", "SimulatorCommands", argumentParser, logging]),
    support("Support/TestFCMCases", [yams], resources: [.copy("Resources")]),
    tests(
      "Push/FCMTests",
      [
        "Cryptography", "Deliverers", "Delivery", "FCM", "PushKinds", "Reactors", "TestRandomness", "TestReactors",
        httpTypes,
      ]),
    tests(
      "Simulators/FCMSimulationTests",
      [
        "Cryptography", "FCMSimulation", "HTTPServing", "HTTPTransfers", "Reactors", "SimulationControl", "TestLogs",
        "TestProcesses", "fcm-simulator", httpTypes,
      ]),
    tests(
      "Simulators/FCMConformanceTests",
      [
        "Cryptography", "Delivery", "FCM", "FCMSimulation", "HTTPTransfers", "Reactors", "TestFCMCases", "TestLogs",
        httpTypes,
      ]),

    // Local push services for browsers.
    layer(
      "Simulators/WebPushSimulation",
      [
        "Cryptography", "HTTP1", "HTTPServing", "Reactors", "SimulationControl", "TLSStreams", deque, httpTypes,
        logging,
      ]),
    tests(
      "Simulators/WebPushSimulationTests",
      [
        "Cryptography", "HTTPTransfers", "Reactors", "SimulationControl", "TestLogs", "TestProcesses",
        "TestRepository", "WebPushSimulation", "web-push-simulator", httpTypes, logging,
      ], resources: [.copy("Resources")]),
    tests(
      "Simulators/WebPushConformanceTests",
      [
        "Cryptography", "Delivery", "HTTPTransfers", "Reactors", "TestLogs", "TestRandomness", "WebPush",
        "WebPushSimulation", httpTypes, logging, yams,
      ], resources: [.copy("Resources")]),
    command(
      "Commands/web-push-simulator",
      ["SimulatorCommands", "WebPushSimulation", argumentParser, logging]),

    // The client against the simulator: everything that can happen to connections, and one list of cases for both.
    tests(
      "Push/APNSFaultTests",
      [
        "Delivery", "APNS", "APNSCore", "APNSSimulation", "Reactors", "TLSStreams", "Cryptography", logging,
        "TestReactors",
      ]),
    tests(
      "Simulators/APNSConformanceTests",
      [
        "Delivery",
        "TestIDs",
        "TestRepository", "APNS", "APNSCore", "APNSSimulation", "HTTP2", "Reactors", "TLSStreams", "TestAPNSCases",
        "TestPostgres",
        "Cryptography", logging,
      ]),

    // What measurements say, and what is made of it.
    layer("Commands/BenchReports"),
    tests("Commands/BenchReportsTests", ["TestRepository", "BenchReports"]),

    // Commands: wiring only.
    command(
      "Commands/tacet",
      [
        "APNS", "APNSCore", "Campaigns", "Callers", "Cryptography", "Deliverers", "Delivery", "FCM", "WebPush", "HTTP1",
        "HTTPServing", "HTTPTransfers",
        "LanguageModels", "Pages", "Postgres",
        "PrometheusMetrics", "API", "Explanations", "HostEvents", "HostWiring", "PushKinds", "PushPipeline",
        "PushStore",
        "Reactors", "Doctor", "Settings", "TLSStreams", argumentParser, httpTypes,
        logging, metrics, signals,
      ]),
    command(
      "Commands/apns-simulator",
      ["APNSSimulation", "Reactors", "SimulatorCommands", argumentParser, logging, signals]),
    command(
      "Commands/model-simulator",
      ["LanguageModelSimulation", "SimulatorCommands", argumentParser, logging]),
    command(
      "Commands/tacet-bench",
      [
        "APNS", "APNSCore", "BenchReports", "Delivery", "HTTP2", "HTTPTransfers", "Postgres", "Reactors", "TLSStreams",
        argumentParser, "Cryptography", deque, histograms, httpTypes, logging,
      ]),

    // The shape of the sources themselves.
    tests("StructureTests", ["TestRepository"]),

    // The commands as processes.
    tests(
      "Commands/TacetTests",
      [
        "Delivery",
        "PushKinds", "TestHosts", "TestIDs",
        "TestRepository", "APNSCore", "HTTPServing", "Postgres", "PrometheusMetrics", "API", "PushPipeline",
        "PushStore", "TestLogs",
        "HostWiring", "TestKeys", "TestPostgres", "TestProcesses", "tacet", "Cryptography", httpTypes, logging,
      ]),
    tests(
      "Commands/TacetBenchTests",
      [
        "Delivery",
        "TestRepository", "APNS", "APNSCore", "APNSSimulation", "BenchReports", "Reactors", "TestPostgres",
        "TestProcesses",
        "TestReactors", "tacet", "tacet-bench", "Cryptography", logging,
      ]),

    // The built service as a process, against a real database and the simulator.
    tests(
      "Commands/ServiceTests",
      [
        "PushKinds", "TestHosts", "TestIDs",
        "TestRepository", "APNSSimulation", "FCMSimulation", "TLSStreams", "WebPushSimulation",
        "LanguageModelSimulation", "Reactors", "TacetClient", "TestLogs",
        "TestPostgres", "TestReceivers",
        "TestProcesses", "TestRandomness", "apns-simulator", "tacet", "Cryptography", yams,
      ], exclude: ["Firefox"]),
  ]
)
