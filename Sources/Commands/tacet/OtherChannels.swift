import API
import Channels
import Cryptography
import HTTPTransfers
import PushPipeline
import PushRules
import Reactors
import Settings

/// The channels beside APNs, as far as the settings set them up. Shared by the reactors.
struct OtherChannels: Sendable {
  private let settings: ServeSettings
  private let signer: VAPIDSigner?
  private let tokens: AccessTokenSource?

  /// - Throws: `CryptographyError`; the settings' keys were checked when they were read.
  init(_ settings: ServeSettings) throws {
    self.settings = settings
    signer = try settings.webPush.map {
      VAPIDSigner(key: try P256PrivateKey(pem: $0.privateKey.exposed), subject: $0.subject)
    }
    tokens = settings.fcm.map { AccessTokenSource($0.account) }
  }

  var offers: TargetOffers {
    var browsers: WebPushOffer?
    if let settings = settings.webPush, let signer {
      browsers = WebPushOffer(publicKey: signer.publicKeyText, hosts: settings.hosts, links: settings.links)
    }
    return TargetOffers(webPush: browsers, takesAndroid: tokens != nil)
  }

  func deliverers(on reactor: isolated Reactor) -> OtherDeliverers {
    var webPush: WebPushClient?
    var fcm: FCMClient?
    var deliverers: [any PushDeliverer] = []
    if let settings = settings.webPush, let signer {
      var configuration = WebPushClientConfiguration()
      if let certificates = settings.certificates { configuration.trust = .only(certificates) }
      let client = WebPushClient(configuration, signer: signer, on: reactor)
      deliverers.append(WebPushDeliverer(client, hosts: settings.hosts, links: settings.links))
      webPush = client
    }
    if let settings = settings.fcm, let tokens {
      let client = FCMClient(tokens, settings.configuration, on: reactor)
      deliverers.append(FCMDeliverer(client, style: settings.style))
      fcm = client
    }
    return OtherDeliverers(all: deliverers, webPush: webPush, fcm: fcm)
  }
}

/// One reactor's deliverers beside that of APNs.
struct OtherDeliverers {
  let all: [any PushDeliverer]
  fileprivate let webPush: WebPushClient?
  fileprivate let fcm: FCMClient?

  func close(on reactor: isolated Reactor) {
    webPush?.close(on: reactor)
    fcm?.close(on: reactor)
  }

  func states(in pipeline: DeliveryPipeline) -> [OtherRouteState] {
    all.flatMap(\.routes).map {
      OtherRouteState(name: $0.name, fault: pipeline.fault(of: $0), isNeeded: pipeline.isWaitedFor($0))
    }
  }

  /// The routes' part of the page for operators.
  func conditions(in pipeline: DeliveryPipeline) -> [RouteCondition] {
    states(in: pipeline).map {
      RouteCondition(name: $0.name, isReady: $0.fault == nil, isNeeded: $0.isNeeded, problem: $0.fault)
    }
  }
}
