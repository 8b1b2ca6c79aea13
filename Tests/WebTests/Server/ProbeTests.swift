import Foundation
import TestSupport
import Testing

@testable import Web

/// Requests of load balancers, monitors and reverse proxies.
@Suite(.timeLimit(.minutes(30))) struct ProbeTests {
    private static let guarded = ["WEB_PASSWORD": WebStand.password]
    private static let bearer = "Authorization: Bearer \(WebStand.password)\r\n"

    /// Sends bytes as they are and reads until the server closes the connection.
    private func answer(to request: String, of stand: WebStand) async throws -> String {
        let connection = try await WebConnection.opened(to: stand.client.port)
        return try await connection.apart {
            try $0.send(Array(request.utf8))
            return String(decoding: $0.rest(), as: UTF8.self)
        }
    }

    /// The requests end with HTTP/1.0 or in `Connection`, so that an answer that is not closed
    /// never ends.
    @Test(
        arguments: [
            // haproxy `option httpchk GET /healthz`, and AWS' load balancers of old.
            ("GET /healthz HTTP/1.0\r\n\r\n", 200),
            ("GET /readyz HTTP/1.0\r\n\r\n", 200),
            ("HEAD /healthz HTTP/1.0\r\n\r\n", 200),
            // haproxy `option httpchk`.
            ("OPTIONS / HTTP/1.0\r\n\r\n", 204),
            ("OPTIONS /healthz HTTP/1.0\r\n\r\n", 204),
            ("OPTIONS * HTTP/1.1\r\nHost: 10.1.2.3:8080\r\nConnection: close\r\n\r\n", 204),
            ("OPTIONS /m/mika HTTP/1.1\r\nHost: evil.example\r\nConnection: Close\r\n\r\n", 204),
            // Kubernetes, Consul and uptime checkers, by whatever name.
            (
                "GET /healthz HTTP/1.1\r\nHost: mirror-bot.default.svc:8080\r\nConnection: close\r\n\r\n",
                200
            ),
            ("GET /readyz HTTP/1.1\r\nHost: mirror_bot\r\nConnection: close\r\n\r\n", 200),
            ("HEAD /readyz HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\nConnection: CLOSE\r\n\r\n", 200),
            ("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", 200),
            (
                "GET http://mirror-bot:8080/healthz HTTP/1.1\r\nHost: mirror-bot:8080\r\nConnection: close\r\n\r\n",
                200
            ),
            ("GET /healthz HTTP/1.0\r\nX-Forwarded-Prefix: /bot\r\n\r\n", 200),
            // No Keep-Alive is promised, so the answer ends with the connection.
            ("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 200),
            ("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close, TE\r\n\r\n", 200),
        ])
    func aProbeIsAnsweredByAnyName(_ request: String, _ status: Int) async throws {
        for variables in [[:], Self.guarded] {
            try await WebStand.with(variables: variables) { stand in
                let answer = try await answer(to: request, of: stand)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
                #expect(!answer.contains("mirror-bot"))
            }
        }
    }

    /// OPTIONS says what is allowed, and to no other site that it may go on.
    @Test func optionsTellsNothingButMethods() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            for (path, allowed) in [
                ("/healthz", "GET, HEAD, OPTIONS"), ("/m/mika", "GET, HEAD, POST, OPTIONS"),
            ] {
                let headers = [
                    "Origin": "https://evil.example", "Access-Control-Request-Method": "POST",
                ]
                let answer = try await stand.client.send(path, headers: headers, method: "OPTIONS")
                #expect(answer.status == 204)
                #expect(answer["Allow"] == allowed)
                #expect(answer.body.isEmpty)
                #expect(
                    answer.headers.allSatisfy { !$0.name.lowercased().hasPrefix("access-control") })
                #expect(answer.all("Set-Cookie").isEmpty)
            }
        }
    }

    /// Programs get the measures by any name, with the password; foreign pages do not.
    @Test(
        arguments: [
            ("GET /metrics HTTP/1.0\r\n\r\n", [:], 200),
            ("GET /metrics HTTP/1.0\r\nHost: mirror-bot.default.svc:8080\r\n\r\n", [:], 421),
            ("GET /metrics HTTP/1.0\r\n\r\n", guarded, 401),
            ("GET /metrics HTTP/1.0\r\n\(bearer)\r\n", guarded, 200),
            (
                "GET /metrics HTTP/1.1\r\nHost: mirror-bot.default.svc:8080\r\n\(bearer)Connection: close\r\n\r\n",
                guarded, 200
            ),
            (
                "GET /metrics HTTP/1.0\r\nHost: evil.example\r\nAuthorization: Bearer a guess\r\n\r\n",
                guarded, 401
            ),
            // Without a password any header is one that a foreign page can send.
            ("GET /metrics HTTP/1.0\r\nHost: evil.example\r\n\(bearer)\r\n", [:], 421),
        ] as [(String, [String: String], Int)])
    func measuresAreForPrograms(_ request: String, _ variables: [String: String], _ status: Int)
        async throws
    {
        try await WebStand.with(variables: variables) { stand in
            let answer = try await answer(to: request, of: stand)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer.prefix(200))")
            #expect(answer.contains("mirrorbot_up 1") == (status == 200))
        }
    }

    /// Of several mirrors the measures are totals, unless a query asks for mirrors; a query for
    /// anything else is refused.
    @Test func measuresAreTotalsUnlessMirrorsAreAskedFor() async throws {
        func archived(_ mirror: String?) -> String {
            guard let mirror else { return "\nmirrorbot_archive_rows 1600\n" }
            return "\nmirrorbot_archive_rows{mirror=\"\(mirror)\"} 800\n"
        }
        try await WebStand.with(["mika", "other"]) { stand in
            for (query, mirrors) in [
                ("", [nil]), ("?mirrors=all", ["mika", "other"]), ("?mirror=other", ["other"]),
                ("?else=1", [nil]),
            ] as [(String, [String?])] {
                let answer = try await stand.client.send("/metrics" + query)
                #expect(answer.status == 200, "\(query)")
                for mirror in [nil, "mika", "other"] {
                    #expect(
                        answer.body.contains(archived(mirror)) == mirrors.contains(mirror),
                        "\(query): \(mirror ?? "all")")
                }
                let isTotal = mirrors == [nil]
                #expect(answer.body.contains("mirror=\"") != isTotal, "\(query)")
            }
            for (query, status) in [
                ("mirror=nobody", 404), ("mirror=", 404), ("mirrors=some", 400),
                ("mirror=mika&mirrors=all", 400), ("mirror=%00", 400),
            ] {
                let answer = try await stand.client.send("/metrics?" + query)
                #expect(answer.status == status, "\(query)")
                #expect(!answer.body.contains("mirrorbot_up"), "\(query)")
            }
        }
    }

    @Test func measuresOfASingleMirrorHaveItsName() async throws {
        try await WebStand.with { stand in
            let answer = try await stand.client.send("/metrics")
            #expect(answer.body.contains("\nmirrorbot_archive_rows{mirror=\"mika\"} 800\n"))
        }
    }

    /// A page is for browsers, which name a host.
    @Test func aPageNeedsAHost() async throws {
        try await WebStand.with { stand in
            let answer = try await answer(to: "GET / HTTP/1.0\r\n\r\n", of: stand)
            #expect(answer.hasPrefix("HTTP/1.1 421 "))
            #expect(answer.contains("The request names no host"))
            #expect(!answer.contains("WEB_HOSTS"))
        }
    }

    /// nginx's `$host` has no port.
    @Test(
        arguments: [
            ("192.168.1.5", "https://192.168.1.5:8443", "Host $http_host"),
            ("mirror.example", "https://mirror.example:8443", "Host $http_host"),
            ("192.168.1.5", "https://<b>.example", "Host $http_host"),
            ("192.168.1.5", "null", "Host $http_host"),
            ("192.168.1.5:8443", "http://192.168.1.5:8443", "X-Forwarded-Proto"),
        ])
    func aRefusedFormNamesBothAddresses(_ host: String, _ origin: String, _ advice: String)
        async throws
    {
        let variables = Self.guarded.merging(["WEB_HOSTS": "mirror.example"]) { $1 }
        try await WebStand.with(variables: variables) { stand in
            let answer = try await stand.client.send(
                "/login", form: [("password", WebStand.password)],
                headers: ["Host": host, "Origin": origin, "X-Forwarded-Proto": "https"])
            #expect(answer.status == 403)
            let shown = origin.replacingOccurrences(of: "<b>", with: "&lt;b&gt;")
            #expect(
                answer.body.contains(
                    "The form came from \(shown), and this page was called https://\(host)."))
            #expect(answer.body.contains(advice))
            #expect(!answer.body.contains("a session that has ended"))
        }
    }

    /// The Host that the browser sent makes the same log-in right.
    @Test(arguments: ["192.168.1.5:8443", "[2001:db8::1]:8443"])
    func aLogInByAddressAndPortIsTaken(_ host: String) async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let answer = try await stand.client.send(
                "/login", form: [("password", WebStand.password)],
                headers: ["Host": host, "Origin": "https://\(host)", "X-Forwarded-Proto": "https"])
            #expect(answer.status == 303)
        }
    }

    @Test func aFormWithoutAnOriginIsNamedAsThat() async throws {
        try await WebStand.with(variables: Self.guarded) { stand in
            let answer = try await stand.client.send(
                "/login", form: [("password", WebStand.password)], headers: ["Origin": ""])
            #expect(answer.status == 403)
            #expect(answer.body.contains("the request has no Origin"))
        }
    }

    /// The proxy's path is in no address of a page.
    @Test(arguments: [("/bot", 404), ("/bot/", 404), ("/, /bot", 404), ("/", 200), ("", 200)])
    func belowAPathThePageSaysThatItNeedsAName(_ prefix: String, _ status: Int) async throws {
        try await WebStand.with(variables: ["PUBLIC_PAGE": "yes"]) { stand in
            for path in ["/m/mika", "/public/mika"] {
                let answer = try await stand.client.send(
                    path, headers: ["X-Forwarded-Prefix": prefix])
                #expect(answer.status == status)
                #expect(
                    answer.body.hasPrefix("could not show the page below a path") == (status == 404)
                )
            }
        }
    }

    /// Also of files and refusals, to which no element of a page can be added.
    @Test func nothingIsForSearchEngines() async throws {
        try await WebStand.with(variables: Self.guarded.merging(["PUBLIC_PAGE": "yes"]) { $1 }) {
            stand in
            let paths = [
                "/public/mika", "/public/mika/report.html", "/public/nobody", "/", "/login",
                "/icon.svg", "/style.css", "/app.webmanifest",
                "/metrics", "/healthz", "/readyz", "/nothing",
            ]
            for path in paths {
                let answer = try await stand.client.send(path)
                #expect(answer.all("X-Robots-Tag") == ["noindex"], "\(path)")
                guard answer["Content-Type"]?.hasPrefix("text/html") == true else { continue }
                #expect(answer.body.contains(#"<meta name="robots" content="noindex">"#), "\(path)")
            }
        }
    }
}
