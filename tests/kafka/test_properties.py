from __future__ import annotations

import pytest
from confluent_kafka import Consumer, KafkaException

from evergrid.config.settings import Connection
from evergrid.kafka.properties import java_properties, python_properties
from evergrid.kafka.property_names import LOGIN_OPTIONS, PROPERTY_NAMES, STORES, TOKEN_TRUST, Role
from evergrid.model.errors import ConfigError

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"

OLD_HANDLER = HANDLER.replace("oauthbearer.", "oauthbearer.secured.")


def translated(properties: dict[str, str]) -> dict[str, str]:
    given = python_properties(Connection("source", "broker:9092", properties))
    assert given.pop("bootstrap.servers") == "broker:9092"
    return given


@pytest.mark.parametrize(
    ("java", "python"),
    [
        ({}, {}),
        ({"security.protocol": "SASL_SSL"}, {"security.protocol": "SASL_SSL"}),
        ({"client.id": "me"}, {"client.id": "me"}),
        ({"sasl.mechanism": "PLAIN"}, {"sasl.mechanisms": "PLAIN"}),
        ({"request.timeout.ms": "9000"}, {"socket.timeout.ms": "9000"}),
        ({"max.request.size": "2000000"}, {"message.max.bytes": "2000000"}),
        ({"receive.buffer.bytes": "-1"}, {"socket.receive.buffer.bytes": "0"}),
        ({"send.buffer.bytes": "65536"}, {"socket.send.buffer.bytes": "65536"}),
        ({"buffer.memory": "33554432"}, {"queue.buffering.max.kbytes": "32768"}),
        ({"fetch.max.wait.ms": "10"}, {"fetch.wait.max.ms": "10"}),
        (
            {"ssl.endpoint.identification.algorithm": ""},
            {"ssl.endpoint.identification.algorithm": "none"},
        ),
        (
            {"ssl.endpoint.identification.algorithm": "https"},
            {"ssl.endpoint.identification.algorithm": "https"},
        ),
        (
            {"sasl.jaas.config": f'{PLAIN} required username="u" password="p w;\\"\\\\";'},
            {"sasl.username": "u", "sasl.password": 'p w;"\\'},
        ),
        (
            {"sasl.jaas.config": f"  {SCRAM} required\n  username=u\n  password='p\"=';  "},
            {"sasl.username": "u", "sasl.password": 'p"='},
        ),
        (
            {"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca.pem"},
            {"ssl.ca.location": "/ca.pem"},
        ),
        (
            {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": "-----BEGIN"},
            {"ssl.ca.pem": "-----BEGIN"},
        ),
        (
            {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": "/me.pem",
                "ssl.key.password": "k",
            },
            {
                "ssl.key.location": "/me.pem",
                "ssl.certificate.location": "/me.pem",
                "ssl.key.password": "k",
            },
        ),
        (
            {
                "ssl.keystore.type": "PEM",
                "ssl.keystore.key": "KEY",
                "ssl.keystore.certificate.chain": "CHAIN",
            },
            {"ssl.key.pem": "KEY", "ssl.certificate.pem": "CHAIN"},
        ),
        (
            {
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.location": "/me.p12",
                "ssl.keystore.password": "k",
            },
            {"ssl.keystore.location": "/me.p12", "ssl.keystore.password": "k"},
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.oauthbearer.token.endpoint.url": "https://idp/token",
                "sasl.login.callback.handler.class": HANDLER,
                "sasl.jaas.config": f"{OAUTH} required clientId='id' clientSecret='s' "
                "scope='kafka' extension_logicalCluster='lkc' extension_poolId='p,q\\\\r';",
            },
            {
                "sasl.mechanisms": "OAUTHBEARER",
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.token.endpoint.url": "https://idp/token",
                "sasl.oauthbearer.client.id": "id",
                "sasl.oauthbearer.client.secret": "s",
                "sasl.oauthbearer.scope": "kafka",
                "sasl.oauthbearer.extensions": r"logicalCluster=lkc,poolId=p\,q\\r",
            },
        ),
        (
            {
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": "/brokers.pem",
                "sasl.login.callback.handler.class": OLD_HANDLER,
                "sasl.jaas.config": f"{OAUTH} required clientId=id clientSecret=s "
                "ssl.truststore.type=PEM ssl.truststore.location='/tokens.pem';",
            },
            {
                "ssl.ca.location": "/brokers.pem",
                "https.ca.location": "/tokens.pem",
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.client.id": "id",
                "sasl.oauthbearer.client.secret": "s",
            },
        ),
        (
            {
                "sasl.jaas.config": f"{OAUTH} required clientId=id clientSecret=s "
                "ssl.truststore.type=PEM ssl.truststore.certificates='-----BEGIN';",
            },
            {
                "https.ca.pem": "-----BEGIN",
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.client.id": "id",
                "sasl.oauthbearer.client.secret": "s",
            },
        ),
        (
            {
                "ssl.enabled.protocols": "TLSv1.3, TLSv1.2",
                "ssl.protocol": "TLSv1.3",
                "sasl.login.refresh.window.factor": "0.5",
                "sasl.login.connect.timeout.ms": "1000",
            },
            {},
        ),
    ],
)
def test_javas_names_become_the_python_clients(
    java: dict[str, str], python: dict[str, str]
) -> None:
    assert translated(java) == python


@pytest.mark.parametrize(
    ("java", "sentence"),
    [
        ({"max.poll.records": "5"}, r"property max\.poll\.records: .*move it to kafka\.java"),
        ({"ssl.protocol": "TLSv1.1"}, r"property ssl\.protocol: .*move it to kafka\.java"),
        ({"ssl.enabled.protocols": "TLSv1.3"}, r"ssl\.enabled\.protocols: .*TLS 1\.2 and 1\.3"),
        ({"ssl.cipher.suites": "X"}, r"ssl\.cipher\.suites: .*OpenSSL's"),
        (
            {"ssl.truststore.location": "/t.jks", "ssl.truststore.password": "hush"},
            r"ssl\.truststore\.location: /t\.jks cannot be read",
        ),
        (
            {"ssl.keystore.type": "jks", "ssl.keystore.location": "/t.jks"},
            r"ssl\.keystore\.location: /t\.jks cannot be read",
        ),
        (
            {"ssl.truststore.type": "PEM", "ssl.truststore.password": "hush"},
            r"ssl\.truststore\.password: .*delete the line",
        ),
        ({"group.id": "mine"}, r"group\.id: cannot be set.*delete the line"),
        ({"value.deserializer": "x"}, r"value\.deserializer: cannot be set"),
        ({"sasl.jaas.config": f"{PLAIN} required password='hush"}, r"sasl\.jaas\.config: is not"),
        ({"sasl.jaas.config": f"{PLAIN} required password='hush'"}, r"sasl\.jaas\.config: is not"),
        ({"sasl.jaas.config": "hush"}, r"sasl\.jaas\.config: is not a login"),
        (
            {"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required a='hush';"},
            r"sasl\.jaas\.config: .*Kerberos \(GSSAPI\) is not supported\. Use SCRAM, a client "
            r"certificate, PLAIN or OAUTHBEARER",
        ),
        (
            {"sasl.mechanism": "gssapi"},
            r"sasl\.mechanism: .*Kerberos \(GSSAPI\) is not supported\. Use SCRAM",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.kerberos.service.name": "kafka"},
            r"sasl\.kerberos\.service\.name: .*Kerberos \(GSSAPI\) is not supported",
        ),
        (
            {
                "sasl.mechanism": "AWS_MSK_IAM",
                "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
            },
            r"sasl\.mechanism: .*IAM \(AWS_MSK_IAM\) is not supported\. Use SCRAM",
        ),
        (
            {"sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;"},
            r"sasl\.jaas\.config: .*IAM \(AWS_MSK_IAM\) is not supported\. Use SCRAM",
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.login.callback.handler.class": "software.amazon.msk.auth.iam."
                "IAMOAuthBearerLoginCallbackHandler",
            },
            r"handler\.class: .*IAM \(AWS_MSK_IAM\) is not supported\. Use SCRAM",
        ),
        (
            {"sasl.jaas.config": "com.example.LoginModule required a='hush';"},
            r"login module LoginModule.*Move sasl\.jaas\.config to kafka\.java",
        ),
        (
            {"sasl.login.callback.handler.class": "com.example.Handler"},
            r"handler\.class: .*Java class.*kafka\.security with mechanism OAUTHBEARER",
        ),
        (
            {"sasl.jaas.config": f"{PLAIN} required;", "sasl.oauthbearer.scope": "hush"},
            r"sasl\.oauthbearer\.scope: .*It is for OAUTHBEARER",
        ),
        (
            {"sasl.oauthbearer.jwt.retriever.class": f"{PLAIN}.hush"},
            r"retriever\.class: .*kafka\.security with mechanism OAUTHBEARER",
        ),
        (
            {"sasl.jaas.config": f"{PLAIN} required username=u password=hush magic=hush;"},
            r"option magic of PlainLoginModule",
        ),
        (
            {"sasl.jaas.config": f"{OAUTH} required clientId=u ssl.keystore.location=hush;"},
            r"option ssl\.keystore\.location of OAuthBearerLoginModule\. Use kafka\.security",
        ),
        (
            {"sasl.jaas.config": f"{OAUTH} required clientId=u ssl.truststore.location='/t.jks';"},
            r"property ssl\.truststore\.location: /t\.jks cannot be read.*Correct the path",
        ),
        (
            {"sasl.mechanisms": "hush"},
            r"property of the Python client, .*Write sasl\.mechanism, without",
        ),
        (
            {"sasl.password": "hush"},
            r"property of the Python client, .*Write sasl\.mechanism and sasl\.jaas",
        ),
        ({"ssl.ca.location": "hush"}, r"property of the Python client, .*Use kafka\.security\.ca"),
        (
            {"kafka.sasl.mechanism": "hush"},
            r"the prefix kafka\. is Spark's.*Write sasl\.mechanism\.",
        ),
    ],
)
def test_what_has_no_translation_is_refused_by_name_and_without_its_value(
    java: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"(?s)Kafka connection source, .*{sentence}") as caught:
        translated(java)
    assert "hush" not in str(caught.value)


def test_each_clients_own_section_reaches_that_client_alone_and_wins() -> None:
    given = Connection(
        "source",
        "broker:9092",
        properties={"client.id": "both"},
        java={"max.poll.records": "5", "client.id": "java"},
        python={"socket.nagle.disable": "true", "client.id": "python"},
    )
    assert java_properties(given) == {
        "bootstrap.servers": "broker:9092",
        "client.id": "java",
        "max.poll.records": "5",
    }
    assert python_properties(given) == {
        "bootstrap.servers": "broker:9092",
        "client.id": "python",
        "socket.nagle.disable": "true",
    }


def test_java_is_given_what_the_user_wrote_but_not_what_evergrid_decides() -> None:
    jaas = f'{PLAIN} required username="u" password="p";'
    given = Connection("source", "broker:9092", {"sasl.jaas.config": jaas})
    assert java_properties(given)["sasl.jaas.config"] == jaas
    with pytest.raises(ConfigError, match="not a login that Java can parse"):
        java_properties(Connection("source", "broker:9092", {"sasl.jaas.config": f"{jaas}hush"}))
    with pytest.raises(ConfigError, match=r"auto\.offset\.reset: cannot be set"):
        java_properties(Connection("source", "broker:9092", {"auto.offset.reset": "latest"}))


def test_a_login_moved_to_java_leaves_no_line_that_fails_next() -> None:
    given = Connection(
        "source",
        "broker:9092",
        properties={
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.token.endpoint.url": "https://idp/token",
            "sasl.login.callback.handler.class": OLD_HANDLER,
        },
        java={"sasl.jaas.config": f"{OAUTH} required clientId=id clientSecret=s odd=x;"},
        python={"sasl.oauthbearer.client.id": "id", "sasl.oauthbearer.client.secret": "s"},
    )
    assert python_properties(given) == {
        "bootstrap.servers": "broker:9092",
        "sasl.mechanisms": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": "https://idp/token",
        "sasl.oauthbearer.client.id": "id",
        "sasl.oauthbearer.client.secret": "s",
    }
    assert java_properties(given)["sasl.jaas.config"].endswith(" odd=x;")


@pytest.mark.parametrize("written", [{}, {"sasl.login.callback.handler.class": OLD_HANDLER}])
def test_java_is_given_the_name_of_the_handler_that_all_its_versions_know(
    written: dict[str, str],
) -> None:
    endpoint = {"sasl.oauthbearer.token.endpoint.url": "https://idp/token"}
    given = java_properties(Connection("source", "broker:9092", endpoint | written))
    assert given["sasl.login.callback.handler.class"] == HANDLER
    assert given["sasl.login.refresh.window.factor"] == "0.5"


def test_a_handler_of_ones_own_is_left_to_java() -> None:
    given = Connection(
        "source", "broker:9092", java={"sasl.login.callback.handler.class": "a.Handler"}
    )
    assert java_properties(given)["sasl.login.callback.handler.class"] == "a.Handler"


def test_a_producer_is_not_given_a_consumers_properties() -> None:
    given = Connection(
        "source", "b:1", {"linger.ms": "5", "fetch.min.bytes": "1", "client.id": "x"}
    )
    assert python_properties(given, Role.PRODUCER).keys() == {
        "bootstrap.servers",
        "client.id",
        "linger.ms",
    }
    assert "linger.ms" not in python_properties(given, Role.CONSUMER)
    assert python_properties(given, Role.ANY).keys() == {"bootstrap.servers", "client.id"}


def names_of_the_python_client() -> set[str]:
    names = {each.name for each in PROPERTY_NAMES.values()}
    names |= {name for login in LOGIN_OPTIONS.values() for name in login.values()}
    stores = (names for store in STORES for kind in store.names.values() for names in kind.values())
    names |= set(TOKEN_TRUST.values())
    return names | {name for each in stores for name in each}


@pytest.mark.parametrize("word", sorted(names_of_the_python_client()))
def test_every_word_of_the_table_is_one_that_the_python_client_knows(word: str) -> None:
    try:
        Consumer({"group.id": "x", "log_level": 0, word: "1"})
        said = ""
    except KafkaException as error:
        said = str(error)
    assert "No such configuration property" not in said
