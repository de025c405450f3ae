import APNSSimulation
import ArgumentParser
import SimulatorCommands

/// `KEYID:TEAMID:PATH`; the path may hold colons.
struct KeyArgument: ExpressibleByArgument {
  let identifier: String
  let team: String
  let path: String

  init?(argument: String) {
    let parts = argument.split(separator: ":", maxSplits: 2)
    guard parts.count == 3 else { return nil }
    (identifier, team, path) = (String(parts[0]), String(parts[1]), String(parts[2]))
  }

  func load() throws -> ProviderKey {
    let text = try TextFile.read(path)
    guard let publicKey = try? ProviderKey.publicKey(fromPEM: text) else {
      throw ValidationError("\(path) holds no P-256 key in PEM form")
    }
    return ProviderKey(identifier: identifier, team: team, publicKey: publicKey)
  }
}
