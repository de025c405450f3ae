import APNS
import ArgumentParser
import FoundationEssentials

/// `https://HOST:PORT`; without a port it is 443.
struct ServerAddress: ExpressibleByArgument, Equatable {
  let endpoint: APNSEndpoint

  init?(argument: String) {
    guard let url = URL(string: argument), url.scheme == "https", let host = url.host(), !host.isEmpty,
      ["", "/"].contains(url.path()), url.query() == nil, let port = UInt16(exactly: url.port ?? 443), port > 0
    else { return nil }
    endpoint = APNSEndpoint(host: host, port: port)
  }
}
