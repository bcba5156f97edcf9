graph [
  name "geant"
  description "GEANT 2012 from the Internet Topology Zoo (Knight et al., 2011)"
  node [
    id 0
    label "NL"
    place "Netherlands"
    region "NL"
    published_index 0
    Latitude 52.37403
    Longitude 4.88969
  ]
  node [
    id 1
    label "BE"
    place "Belgium"
    region "BE"
    published_index 1
    Latitude 50.85045
    Longitude 4.34878
  ]
  node [
    id 2
    label "DK"
    place "Denmark"
    region "DK"
    published_index 2
    Latitude 55.67594
    Longitude 12.56553
  ]
  node [
    id 3
    label "PL"
    place "Poland"
    region "PL"
    published_index 3
    Latitude 52.41667
    Longitude 16.96667
  ]
  node [
    id 4
    label "DE"
    place "Germany"
    region "DE"
    published_index 4
    Latitude 50.11667
    Longitude 8.68333
  ]
  node [
    id 5
    label "CZ"
    place "Czech Republic"
    region "CZ"
    published_index 5
    Latitude 50.08804
    Longitude 14.42076
  ]
  node [
    id 6
    label "LU"
    place "Luxembourg"
    region "LU"
    published_index 6
    Latitude 49.61167
    Longitude 6.13
  ]
  node [
    id 7
    label "FR"
    place "France"
    region "FR"
    published_index 7
    Latitude 48.85341
    Longitude 2.3488
  ]
  node [
    id 8
    label "CH"
    place "Switzerland"
    region "CH"
    published_index 8
    Latitude 46.94809
    Longitude 7.44744
  ]
  node [
    id 9
    label "IT"
    place "Italy"
    region "IT"
    published_index 9
    Latitude 45.46427
    Longitude 9.18951
  ]
  node [
    id 10
    label "UA"
    place "UA"
    region "UA"
    published_index 10
    Latitude 48.3794
    Longitude 31.1656
  ]
  node [
    id 11
    label "MD"
    place "MD"
    region "MD"
    published_index 11
    Latitude 47.4116
    Longitude 28.3699
  ]
  node [
    id 12
    label "BG"
    place "Bulgaria"
    region "BG"
    published_index 12
    Latitude 42.69751
    Longitude 23.32415
  ]
  node [
    id 13
    label "RO"
    place "Romania"
    region "RO"
    published_index 13
    Latitude 44.43225
    Longitude 26.10626
  ]
  node [
    id 14
    label "TR"
    place "Turkey"
    region "TR"
    published_index 14
    Latitude 39.05901
    Longitude 34.91155
  ]
  node [
    id 15
    label "GR"
    place "Greece"
    region "GR"
    published_index 15
    Latitude 37.97945
    Longitude 23.71622
  ]
  node [
    id 16
    label "CY"
    place "Cyprus"
    region "CY"
    published_index 16
    Latitude 35.16667
    Longitude 33.36667
  ]
  node [
    id 17
    label "IL"
    place "Israel"
    region "IL"
    published_index 17
    Latitude 31.5
    Longitude 34.75
  ]
  node [
    id 18
    label "MT"
    place "Malta"
    region "MT"
    published_index 18
    Latitude 35.90917
    Longitude 14.42556
  ]
  node [
    id 19
    label "BY"
    place "BY"
    region "BY"
    published_index 19
    Latitude 53.7098
    Longitude 27.9534
  ]
  node [
    id 20
    label "MK"
    place "Macedonia"
    region "MK"
    published_index 20
    Latitude 42.0
    Longitude 21.43333
  ]
  node [
    id 21
    label "ME"
    place "Montenegro"
    region "ME"
    published_index 21
    Latitude 42.44111
    Longitude 19.26361
  ]
  node [
    id 22
    label "HU"
    place "Hungary"
    region "HU"
    published_index 22
    Latitude 47.49801
    Longitude 19.03991
  ]
  node [
    id 23
    label "SK"
    place "Slovakia"
    region "SK"
    published_index 23
    Latitude 48.14816
    Longitude 17.10674
  ]
  node [
    id 24
    label "PT"
    place "Portugal"
    region "PT"
    published_index 24
    Latitude 38.71667
    Longitude -9.13333
  ]
  node [
    id 25
    label "ES"
    place "Spain"
    region "ES"
    published_index 25
    Latitude 40.4165
    Longitude -3.70256
  ]
  node [
    id 26
    label "RS"
    place "Serbia"
    region "RS"
    published_index 26
    Latitude 44.80401
    Longitude 20.46513
  ]
  node [
    id 27
    label "HR"
    place "Croatia"
    region "HR"
    published_index 27
    Latitude 45.81444
    Longitude 15.97798
  ]
  node [
    id 28
    label "SL"
    place "Slovenia"
    region "SL"
    published_index 28
    Latitude 46.05108
    Longitude 14.50513
  ]
  node [
    id 29
    label "AT"
    place "Austria"
    region "AT"
    published_index 29
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 30
    label "LT"
    place "Lithuania"
    region "LT"
    published_index 30
    Latitude 54.9
    Longitude 23.9
  ]
  node [
    id 31
    label "RU"
    place "Russia"
    region "RU"
    published_index 31
    Latitude 55.75222
    Longitude 37.61556
  ]
  node [
    id 32
    label "IS"
    place "Iceland"
    region "IS"
    published_index 32
    Latitude 64.13548
    Longitude -21.89541
  ]
  node [
    id 33
    label "IE"
    place "Ireland"
    region "IE"
    published_index 33
    Latitude 53.34399
    Longitude -6.26719
  ]
  node [
    id 34
    label "UK"
    place "United Kingdom"
    region "UK"
    published_index 34
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 35
    label "NO"
    place "Norway"
    region "NO"
    published_index 35
    Latitude 62.0
    Longitude 10.0
  ]
  node [
    id 36
    label "SE"
    place "Sweden"
    region "SE"
    published_index 36
    Latitude 59.33258
    Longitude 18.0649
  ]
  node [
    id 37
    label "FI"
    place "Finland"
    region "FI"
    published_index 37
    Latitude 60.45148
    Longitude 22.26869
  ]
  node [
    id 38
    label "EE"
    place "Estonia"
    region "EE"
    published_index 38
    Latitude 59.43696
    Longitude 24.75353
  ]
  node [
    id 39
    label "LV"
    place "Latvia"
    region "LV"
    published_index 39
    Latitude 56.946
    Longitude 24.10589
  ]
  edge [
    source 0
    target 1
    distance 173.60365795686457
    published_distance 179.32598576708145
  ]
  edge [
    source 0
    target 2
    distance 622.4233390351511
    published_distance 923.3283011552757
  ]
  edge [
    source 0
    target 4
    distance 364.9302419031067
    published_distance 488.11815972118796
  ]
  edge [
    source 0
    target 34
    distance 358.00785256161964
    published_distance 562.878102261553
    capacity 2500000000.0
  ]
  edge [
    source 0
    target 30
    distance 1284.1689379991712
    published_distance 2120.9001112398582
    capacity 2500000000.0
  ]
  edge [
    source 1
    target 33
    distance 777.6895961905605
    published_distance 1206.162441719578
  ]
  edge [
    source 2
    target 32
    distance 2111.115928664486
    published_distance 3922.267951099039
    capacity 10000000000.0
  ]
  edge [
    source 2
    target 35
    distance 719.7129765676201
    published_distance 746.4478692255708
  ]
  edge [
    source 2
    target 4
    distance 671.3012132661651
    published_distance 744.50177773082
  ]
  edge [
    source 2
    target 38
    distance 839.4786283286087
    published_distance 1405.9658170444022
    capacity 10000000000.0
  ]
  edge [
    source 2
    target 36
    distance 523.6000390634849
    published_distance 724.1228605813056
  ]
  edge [
    source 2
    target 31
    distance 1565.883595165243
    published_distance 2775.192341131577
    capacity 10000000000.0
  ]
  edge [
    source 3
    target 10
    distance 1102.5198733499374
    published_distance 1625.0004984731004
    capacity 1000000000.0
  ]
  edge [
    source 3
    target 19
    distance 749.6624135187152
    published_distance 1223.883834642013
    capacity 1000000000.0
  ]
  edge [
    source 3
    target 4
    distance 631.7462986262071
    published_distance 949.7334328522467
    capacity 10000000000.0
  ]
  edge [
    source 3
    target 5
    distance 314.1362472693124
    published_distance 376.3808960627175
    capacity 10000000000.0
  ]
  edge [
    source 3
    target 30
    distance 534.8983269665849
    published_distance 810.0895626557102
    capacity 10000000000.0
  ]
  edge [
    source 4
    target 5
    distance 410.38673724848223
    published_distance 634.6803107676633
  ]
  edge [
    source 4
    target 6
    distance 191.96754416633962
    published_distance 287.8300524860265
    capacity 10000000000.0
  ]
  edge [
    source 4
    target 8
    distance 363.96426672435746
    published_distance 375.04507847481915
  ]
  edge [
    source 4
    target 16
    distance 2596.914972641305
    published_distance 3135.2058222351147
    capacity 1000000000.0
  ]
  edge [
    source 4
    target 17
    distance 2989.487973144297
    published_distance 3455.881170725865
    capacity 2500000000.0
  ]
  edge [
    source 4
    target 29
    distance 599.2306381248756
    published_distance 875.4676461493866
    capacity 10000000000.0
  ]
  edge [
    source 4
    target 31
    distance 2026.6678171986794
    published_distance 3254.451144840306
    capacity 10000000000.0
  ]
  edge [
    source 5
    target 23
    distance 291.4875747729368
    published_distance 362.68818655213397
  ]
  edge [
    source 6
    target 7
    distance 287.9721861984377
    published_distance 426.51444028372026
    capacity 10000000000.0
  ]
  edge [
    source 7
    target 8
    distance 435.99437827821174
    published_distance 602.102271170958
  ]
  edge [
    source 7
    target 25
    distance 1052.5193707506469
    published_distance 1152.7716506165455
    capacity 10000000000.0
  ]
  edge [
    source 7
    target 34
    distance 344.13671929608245
    published_distance 402.71878445334073
  ]
  edge [
    source 8
    target 9
    distance 212.77605011339503
    published_distance 252.65690705482768
  ]
  edge [
    source 8
    target 25
    distance 1153.450225206532
    published_distance 1430.6012008611224
  ]
  edge [
    source 9
    target 25
    distance 1190.348163357064
    published_distance 1531.6993098274625
    capacity 10000000000.0
  ]
  edge [
    source 9
    target 18
    distance 1149.0299640415815
    published_distance 1191.1601347666535
    capacity 1000000000.0
  ]
  edge [
    source 9
    target 29
    distance 626.7737959451268
    published_distance 848.5573740458495
  ]
  edge [
    source 9
    target 15
    distance 1463.4590264399253
    published_distance 1794.1662151839357
    capacity 10000000000.0
  ]
  edge [
    source 11
    target 13
    distance 374.7873060601613
    published_distance 387.25728075250765
    capacity 1000000000.0
  ]
  edge [
    source 12
    target 22
    distance 630.9078071733259
    published_distance 687.986874215336
    capacity 10000000000.0
  ]
  edge [
    source 12
    target 20
    distance 173.993962911857
    published_distance 221.35875653078634
    capacity 155000000.0
  ]
  edge [
    source 12
    target 13
    distance 296.0544356853575
    published_distance 354.63731595186334
    capacity 10000000000.0
  ]
  edge [
    source 12
    target 14
    distance 1055.8265614548893
    published_distance 1331.957399795769
    capacity 10000000000.0
  ]
  edge [
    source 12
    target 15
    distance 524.9555490559379
    published_distance 483.7636509513421
    capacity 10000000000.0
  ]
  edge [
    source 13
    target 14
    distance 943.8258009098138
    published_distance 1103.5491555418946
    capacity 10000000000.0
  ]
  edge [
    source 13
    target 22
    distance 644.6891436647618
    published_distance 843.5354377402058
    capacity 10000000000.0
  ]
  edge [
    source 15
    target 29
    distance 1282.665593791227
    published_distance 1343.0136797578718
    capacity 10000000000.0
  ]
  edge [
    source 16
    target 34
    distance 3223.0945826042403
    published_distance 4083.144703890609
    capacity 1000000000.0
  ]
  edge [
    source 17
    target 30
    distance 2737.7070705550177
    published_distance 2562.1917052859303
    capacity 2500000000.0
  ]
  edge [
    source 21
    target 27
    distance 457.77529220687484
    published_distance 510.25099169159955
    capacity 155000000.0
  ]
  edge [
    source 22
    target 26
    distance 319.0337901115242
    published_distance 323.43586247076826
    capacity 10000000000.0
  ]
  edge [
    source 22
    target 27
    distance 299.8834208836152
    published_distance 383.1362248908658
  ]
  edge [
    source 22
    target 23
    distance 161.79538270567215
    published_distance 224.76149342152937
  ]
  edge [
    source 23
    target 29
    distance 55.04513717691596
    published_distance 81.55633274476625
  ]
  edge [
    source 24
    target 25
    distance 503.2755459052573
    published_distance 629.3124988360909
    capacity 10000000000.0
  ]
  edge [
    source 24
    target 34
    distance 1585.703540324088
    published_distance 1732.7850475312403
    capacity 10000000000.0
  ]
  edge [
    source 27
    target 28
    distance 117.21712387736751
    published_distance 164.9432131181301
  ]
  edge [
    source 28
    target 29
    distance 278.53019538568924
    published_distance 310.30044929373497
  ]
  edge [
    source 30
    target 39
    distance 228.1654877883223
    published_distance 209.42265112623548
    capacity 10000000000.0
  ]
  edge [
    source 32
    target 34
    distance 1891.7677824849225
    published_distance 2770.9900551148694
    capacity 2500000000.0
  ]
  edge [
    source 33
    target 34
    distance 464.8078215232554
    published_distance 709.0660666930014
    capacity 10000000000.0
  ]
  edge [
    source 35
    target 36
    distance 531.1801218878361
    published_distance 937.5896728534278
  ]
  edge [
    source 36
    target 37
    distance 266.24439293012523
    published_distance 479.852379679257
  ]
  edge [
    source 38
    target 39
    distance 280.0445963685117
    published_distance 262.59365320282353
    capacity 10000000000.0
  ]
]
