internal import Cryptography
internal import HTTP1
package import Logging
package import Reactors
internal import SimulationControl

/// The configuration of a simulator. Every value has a default.
package struct FCMSimulatorConfiguration: Sendable {
  /// The address of both of Google's endpoints, in plain HTTP/1.1. Port 0 lets the kernel choose.
  package var address: SocketAddress

  /// The address of the control endpoint, which has no authentication: use a loopback address.
  package var controlAddress: SocketAddress

  /// Service accounts as Google's JSON files. The project of the first is the one of registrations without one.
  package var serviceAccounts: [String] = []

  /// What assertions may be for, besides this simulator's and Google's token endpoint.
  package var audiences: Set<String> = []

  /// Whether a well-formed unknown token is registered by its first message.
  package var acceptsAnyToken = false

  /// The number of records kept. 10,000: some 20 MB with the largest messages.
  package var recordsMax = 10_000

  package var logger = Logger(label: "fcm-simulator")

  /// 127.0.0.1 on free ports.
  package init() {
    guard let address = SocketAddress(numericHost: "127.0.0.1", port: 0) else {
      preconditionFailure("127.0.0.1 is no numeric address")
    }
    self.address = address
    controlAddress = address
  }
}

/// A document that the simulator does not take.
package struct FCMSimulatorError: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ problem: ProblemDetails) {
    description = problem.detail ?? problem.title
  }
}

extension SimulatedFCM {
  /// Registers a service account, and its project unless it is known.
  /// - Parameter json: Google's file.
  /// - Throws: ``FCMSimulatorError`` that names the mistake.
  package func addServiceAccount(_ json: String) throws {
    do {
      try add(decodeControl(AccountDocument.self, from: Array(json.utf8)))
    } catch let problem as ProblemDetails {
      throw FCMSimulatorError(problem)
    }
  }
}

/// Google's file of a new service account.
struct AccountFile: Encodable {
  let type = "service_account"
  let projectID: String
  let privateKeyID: String
  let privateKey = RSAPrivateKey().pem
  let clientEmail: String
  let tokenURI: String

  enum CodingKeys: String, CodingKey {
    case type
    case projectID = "project_id"
    case privateKeyID = "private_key_id"
    case privateKey = "private_key"
    case clientEmail = "client_email"
    case tokenURI = "token_uri"
  }

  /// An account of the project that may send.
  init(project: String, tokenURI: String) {
    projectID = project
    privateKeyID = (0..<20).map { _ in "0123456789abcdef".randomElement().map(String.init) ?? "" }.joined()
    clientEmail = "push@\(project).iam.gserviceaccount.com"
    self.tokenURI = tokenURI
  }
}
